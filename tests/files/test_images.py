"""Images: what describes them, folders and columns of them, and hostile files."""

import io
import os
import struct
import zlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pairlearn import CIPSClassifier, load, make_pair_pipeline, save
from pairlearn.files.media import Folder
from pairlearn.files.saving import ModelFileError
from pairlearn.files.tables import TableError, read_answers, read_points
from pairlearn.files.tables.encoders.image_files import ImageError, is_readable_name
from pairlearn.files.tables.encoders.images import (
    ImageColumn,
    describe_file,
    describe_image,
    feature_names,
)
from pairlearn.files.tables.image_folder import rows_by_other_names
from pairlearn.files.tables.reading import read_chunks
from tests.support.model_files import unchecked
from tests.support.photos import make_photos, picture


def part(described, word):
    """The numbers of a descriptor that are called so."""
    names = feature_names()
    return described[[k for k, name in enumerate(names) if name.startswith(word)]]


class TestDescriptors:
    def test_gradients_tell_directions_and_not_contrast(self):
        image = np.asarray(picture(1, 0), dtype=float)
        weak = Image.fromarray((image / 3 + 20).astype(np.uint8))
        others = [describe_image(one) for one in (picture(1, 0), weak, picture(0, 1))]
        one, fainter, other = (part(each, "gradient") for each in others)
        assert np.linalg.norm(one - fainter) < 0.1 * np.linalg.norm(one - other)

    def test_turned_by_a_half_every_gradient_is_turned(self):
        image = Image.fromarray(np.asarray(picture(0, 3, (32, 32))))
        turned = image.transpose(Image.Transpose.ROTATE_180)
        of, back = (part(describe_image(i), "gradient") for i in (image, turned))
        cells = of[: 8 * 8 * 8].reshape(8, 8, 8)
        again = back[: 8 * 8 * 8].reshape(8, 8, 8)
        assert np.allclose(again, np.roll(cells[::-1, ::-1], 4, axis=-1), atol=1e-5)

    def test_colours_are_told_and_grey_is_grey_however_it_is_stored(self):
        red, blue = (
            describe_image(Image.new("RGB", (9, 9), c)) for c in ("red", "blue")
        )
        assert part(red, "redness").min() > 0.5 > part(blue, "redness").max()
        grey = picture(0, 0)
        assert np.allclose(describe_image(grey), describe_image(grey.convert("RGB")))

    def test_sizes_are_told(self):
        described = describe_image(Image.new("L", (40, 10)))
        assert np.allclose(np.exp(described[:2]), (40, 10))

    @pytest.mark.parametrize(
        "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"]
    )
    def test_all_modes_are_read(self, mode, tmp_path):
        image = picture(1, 0)
        if mode == "I;16":
            image = Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
        else:
            image = image.convert(mode)
        name = "a.jpg" if mode == "CMYK" else "a.png"
        image.save(tmp_path / name)
        described = describe_file(Folder(tmp_path), name)
        plain = describe_image(picture(1, 0))
        assert np.linalg.norm(described - plain) < 0.5 * np.linalg.norm(plain)

    def test_photos_are_turned_as_the_camera_was_held(self, tmp_path):
        exif = Image.Exif()
        exif[0x0112] = 6
        picture(0, 0).save(tmp_path / "a.jpg", exif=exif, quality=95)
        upright = picture(0, 0).transpose(Image.Transpose.ROTATE_270)
        found = describe_file(Folder(tmp_path), "a.jpg")
        assert np.allclose(np.exp(found[:2]), upright.size)
        assert np.linalg.norm(found - describe_image(upright)) < 0.5

    def test_a_plain_image_has_finite_numbers(self):
        assert np.isfinite(describe_image(Image.new("L", (1, 1)))).all()


class TestFolders:
    def test_file_names_are_ids_also_without_their_ending(self, tmp_path):
        names, kinds = make_photos(tmp_path)
        (tmp_path / "photos" / "notes.txt").write_text("x")
        (tmp_path / "photos" / ".hidden.png").write_bytes(b"x")
        read = read_answers(tmp_path / "photos", tmp_path / "pairs.csv")
        assert list(read.points.ids) == sorted(names)
        assert read.notes == ["photos: 1 file(s) that are no images are ignored"]
        y = kinds[[names.index(name) for name in read.points.ids]]
        assert np.array_equal(read.t > 0, y[read.index[:, 0]] == y[read.index[:, 1]])
        model = make_pair_pipeline(read.points.make_encoder(), CIPSClassifier())
        predicted = model.fit(read.pairs, read.t).predict(read.points.frame) > 0
        assert np.mean(predicted == y) in (0, 1)

    def test_a_folder_is_read_in_parts(self, tmp_path):
        make_photos(tmp_path, 10)
        parts = list(read_chunks(tmp_path / "photos", 4))
        assert [len(part) for part in parts] == [0, 4, 4, 2]

    def test_names_that_may_mean_two_images_mean_none(self):
        names = ["a/1.png", "a/1.jpg", "b/2.png"]
        found = rows_by_other_names(names, ["a/1", "1.jpg", "b\\2.png", "./b/2", "3"])
        assert found == {"1.jpg": 1, "b\\2.png": 2, "./b/2": 2}

    def test_a_folder_without_images_is_refused(self, tmp_path):
        with pytest.raises(TableError, match="is a folder without an image"):
            read_points(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
    def test_links_out_of_the_folder_are_left_out(self, tmp_path):
        make_photos(tmp_path, 4)
        picture(0, 0).save(tmp_path / "secret.png")
        (tmp_path / "photos" / "link.png").symlink_to(tmp_path / "secret.png")
        points = read_points(tmp_path / "photos")
        assert "link.png" not in list(points.ids)
        assert "1 image(s) are left out" in points.table.notes[0]


class TestColumns:
    def table(self, folder, cells):
        lines = [f"p{k},{cell},{k}" for k, cell in enumerate(cells)]
        path = folder / "points.csv"
        path.write_text("\n".join(["id,photo,size", *lines]) + "\n")
        return path

    def test_a_column_of_paths_is_images_and_may_have_gaps(self, tmp_path):
        names, _ = make_photos(tmp_path, 6)
        cells = [f"photos/{name}" for name in names[:5]] + [""]
        points = read_points(self.table(tmp_path, cells))
        assert [column.kind for column in points.columns] == ["image", "numbers"]
        assert points.columns[0].how.endswith("gradients; 1 missing")
        encoded = points.make_encoder().fit_transform(points.frame)
        assert encoded.shape == (6, 2 + len(feature_names()))
        assert np.isfinite(encoded).all()

    def test_a_column_may_have_any_name(self, tmp_path):
        make_photos(tmp_path, 4)
        lines = [f"p{k},photos/p{k}.png" for k in range(1, 4)]
        path = tmp_path / "points.csv"
        path.write_text("\n".join(["id,my__photo's", *lines]) + "\n")
        points = read_points(path)
        assert len(points.make_encoder().fit_transform(points.frame)) == 3

    def test_words_that_end_like_images_are_none(self, tmp_path):
        cells = [("a.png", "b.png")[k % 2] for k in range(6)]
        points = read_points(self.table(tmp_path, cells))
        assert points.columns[0].kind == "categories"

    def test_an_image_that_is_missing_is_named(self, tmp_path):
        make_photos(tmp_path, 2)
        cells = ["photos/p1.png", "photos/none.png", "../up.png"]
        points = read_points(self.table(tmp_path, cells))
        with pytest.raises(ImageError, match=r"none\.png' cannot be read: there is no"):
            points.frame  # noqa: B018

    def test_names_of_features_say_what_they_are(self):
        frame = pd.DataFrame({"photo": [picture(0, 0), None]})
        encoder = ImageColumn().fit(frame)
        names = encoder.get_feature_names_out()
        assert len(names) == encoder.transform(frame).shape[1]
        assert names[0] == "photo: log of width"
        assert names[-1] == "photo: missing"

    def test_a_model_is_saved_and_a_forged_one_refused(self, tmp_path):
        make_photos(tmp_path, 20)
        read = read_answers(tmp_path / "photos", tmp_path / "pairs.csv")
        model = make_pair_pipeline(read.points.make_encoder(), CIPSClassifier())
        model.fit(read.pairs, read.t)
        save(model, tmp_path / "m.skops")
        frame = read.points.frame
        scores = load(tmp_path / "m.skops").decision_function(frame)
        assert np.array_equal(scores, model.decision_function(frame))
        column = model[0].transformer_.named_transformers_["image 0"]
        for name, value in {"n_numbers_": 2**40, "mean_": np.zeros(3)}.items():
            before = getattr(column, name)
            setattr(column, name, value)
            (tmp_path / "forged.skops").write_bytes(unchecked(model))
            setattr(column, name, before)
            with pytest.raises(ModelFileError, match="ImageColumn holds arrays"):
                load(tmp_path / "forged.skops")


def png(width, height, data=b""):
    """A PNG file that says that it is of such a size."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", head),
            chunk(b"IDAT", data),
            chunk(b"IEND", b""),
        ]
    )


def content(kind="PNG"):
    file = io.BytesIO()
    picture(0, 0).convert("RGB").save(file, kind)
    return file.getvalue()


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("name", "data", "message"),
        [
            ("bomb.png", png(50_000, 50_000), "50,000 x 50,000 pixels|million pixels"),
            ("long.png", png(1_000_000, 1), "1,000,000 x 1 pixels"),
            ("flat.png", png(0, 5), "damaged or cut off"),
            ("cut.png", content()[:200], "damaged or cut off"),
            ("cut.jpg", content("JPEG")[:200], "damaged or cut off"),
            ("lies.png", content("JPEG"), "no PNG file, as its name says"),
            ("text.gif", b"hello", "no GIF file"),
            ("empty.bmp", b"", "no BMP file"),
            ("few.png", png(20, 20, zlib.compress(b"ab")), "damaged or cut off"),
            ("a.svg", b"<svg/>", "no image that can be read"),
        ],
    )
    def test_they_are_refused_by_name(self, name, data, message, tmp_path):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ImageError, match=message) as caught:
            describe_file(Folder(tmp_path), name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_what_is_no_file_is_refused(self, tmp_path):
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe.png")
        for name in ("pipe.png", "/etc/passwd.png", "../a.png", "no.png"):
            with pytest.raises(ImageError, match="cannot be read"):
                describe_file(Folder(tmp_path), name)

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
    def test_flipped_bits(self, kind, tmp_path):
        whole = content(kind)
        name = f"a.{kind.lower()}"
        rng = np.random.RandomState(0)
        refused = []
        for _ in range(60):
            data = bytearray(whole[: rng.randint(20, len(whole) + 1)])
            for place in rng.randint(0, len(data), rng.randint(1, 4)):
                data[place] ^= 1 << rng.randint(8)
            (tmp_path / name).write_bytes(data)
            try:
                assert np.isfinite(describe_file(Folder(tmp_path), name)).all()
            except ImageError as problem:
                refused.append(str(problem))
        assert len(refused) > 10
        assert all(name in message for message in refused)


def test_endings():
    assert [is_readable_name(name) for name in ("a.PNG", "b.tar", "c.svg", "png")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_paths_of_images_that_are_not_there_are_told_so(tmp_path):
    frame = pd.DataFrame({"id": range(9), "x": range(9)})
    frame["photo"] = [f"lost/{k}.png" for k in range(9)]
    frame.to_csv(tmp_path / "points.csv", index=False)
    (photo,) = (
        each
        for each in read_points(tmp_path / "points.csv").columns
        if each.name == "photo"
    )
    assert photo.kind == "left out"
    assert "its cells name images, such as 'lost/0.png', and there are no" in photo.note
