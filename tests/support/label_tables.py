"""Points to answer about: numbers, texts, pictures and sounds, hostile cells."""

import io
import struct
import wave
import zlib
from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import load_breast_cancer


@dataclass
class Table:
    """What the page shows: columns, one row of cells per point, and the true kinds."""

    name: str
    columns: list[dict]
    ids: list[str]
    cells: list[list]
    kinds: list[int]
    files: dict[tuple[int, int], tuple[str, bytes]] = field(default_factory=dict)
    whole: dict[tuple[int, int], str] = field(default_factory=dict)
    order: list[int] | None = None

    def thing(self, row):
        return {"row": row, "id": self.ids[row], "cells": self.cells[row]}


def cancer(n=120):
    """Points of the practice data, as `pairlearn datasets cancer` writes them."""
    data = load_breast_cancer()
    X, y = data.data[:n], data.target[:n]
    columns = [
        {"name": str(name), "kind": "number", "range": [float(low), float(high)]}
        for name, low, high in zip(
            data.feature_names, X.min(axis=0), X.max(axis=0), strict=True
        )
    ]
    apart = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    return Table(
        name="points.csv",
        columns=columns,
        ids=[f"p{row:04}" for row in range(1, n + 1)],
        cells=[[f"{value:.4g}" for value in row] for row in X],
        kinds=y.tolist(),
        order=[int(i) for i in np.argsort(apart)[::-1]],
    )


STORIES = """\
The harbour was quiet before dawn. Two fishing boats had come back with half-empty \
holds, and the captains argued about the weather that nobody had forecast.
Before dawn the harbour lay quiet. A single boat came back, its holds empty, and the \
captain blamed the forecast and not the weather.
The committee approved the budget for the new library on Tuesday. Work begins in \
spring, and the reading room stays open while the roof is replaced.
On Tuesday the library's new roof was discussed: the committee wants the reading room \
to stay open in spring, whatever the budget says.
""".splitlines()


def stories():
    """Long texts beside two short columns."""
    columns = [
        {"name": "story", "kind": "text"},
        {"name": "desk", "kind": "category"},
        {"name": "source", "kind": "link"},
    ]
    cells = [
        [
            text,
            "coast" if row < 2 else "city",
            {
                "media": "link",
                "url": f"https://example.org/{row}",
                "text": f"https://example.org/{row}",
            },
        ]
        for row, text in enumerate(STORIES)
    ]
    ids = [f"story {row + 1}" for row in range(len(STORIES))]
    return Table("stories.csv", columns, ids, cells, [0, 0, 1, 1])


def png(pixels):
    """A picture as a file: `pixels` has height, width and three colours, 0 to 255."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[i].astype(np.uint8).tobytes() for i in range(height))

    def chunk(kind, body):
        checked = kind + body
        length, check = len(body), zlib.crc32(checked)
        return struct.pack(">I", length) + checked + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def rings(radius, width, size=240):
    """A picture of a ring on a soft ground."""
    y, x = np.mgrid[:size, :size] / (size / 2) - 1
    inside = np.exp(-(((np.hypot(x, y) - radius) / width) ** 2))[..., None]
    ground = np.stack([235 + 10 * x, 238 + 6 * y, 242 + 0 * x], axis=-1)
    return png(ground * (1 - inside) + np.array([30, 94, 160]) * inside)


def tone(hertz):
    """A short sound as a file."""
    wave_file = io.BytesIO()
    with wave.open(wave_file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        beats = np.sin(2 * np.pi * hertz * np.arange(4000) / 8000)
        sound.writeframes((128 + 60 * beats).astype(np.uint8).tobytes())
    return wave_file.getvalue()


def media():
    """Pictures and sounds, named by files."""
    columns = [
        {"name": "photo", "kind": "image"},
        {"name": "call", "kind": "audio"},
        {"name": "weight", "kind": "number", "range": [1.0, 9.0]},
    ]
    files, cells = {}, []
    for row in range(4):
        files[row, 0] = ("image/png", rings(0.35 + 0.12 * row, 0.08 + 0.03 * row))
        files[row, 1] = ("audio/wav", tone(220 * (row + 1)))
        cells.append(
            [
                {"media": "image", "url": f"/media/{row}/0", "text": f"{row}.png"},
                {"media": "audio", "url": f"/media/{row}/1", "text": f"{row}.wav"},
                f"{2.5 + row}",
            ]
        )
    ids = [f"ring {row + 1}" for row in range(4)]
    return Table("rings.csv", columns, ids, cells, [0, 0, 1, 1], files)


MARKUP = '<img src="x" onerror="window.hurt = 1"><script>window.hurt = 1</script>'
TURNED = "abc\u202egnp.exe\u0007\u2066"
LONG = "long " * 200_000


def hostile():
    """Ids, names of columns and cells that want to be more than text."""
    columns = [
        {"name": MARKUP, "kind": "category"},
        {"name": "turned\u202e round", "kind": "category"},
        {"name": "essay", "kind": "text"},
        {"name": "constructor", "kind": "number", "range": [0, 1]},
    ]
    cells = [
        [MARKUP, TURNED, {"text": LONG[:2000], "cut": True}, "NaN"],
        ["<b>bold</b>", "\u05d0\u05d1\u05d2 123", "</td><h1>big</h1>", "__proto__"],
        ["javascript:alert(1)", "a\u0000b", None, None],
    ]
    ids = [MARKUP, "\u202eid", "x" * 5000]
    table = Table("points<b>.csv", columns, ids, cells, [0, 1, 1])
    table.whole[0, 2] = LONG
    return table
