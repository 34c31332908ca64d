"""Tables as strangers have them: any names of columns, any words, any delimiter."""

import pytest

from pairlearn.files.tables.answer_words import AnswerWords
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.answers import parse_answers
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.words import ANSWERS
from pairlearn.label.made_files import fit_options
from pairlearn.label.settings import DEFAULTS
from tests.support.cli_files import write

POINTS = "Kundennummer,Ort,Umsatz\n" + "".join(
    f"K{k:02},{'ABC'[k % 3]},{k * k % 7}.5\n" for k in range(9)
)
PAIRS = "links,rechts,Urteil\nK01,K02,gleich\nK03,K08,verschieden\n"


def find(tmp_path, points, pairs, **more):
    return read_answers(
        write(tmp_path, "points.csv", points),
        write(tmp_path, "pairs.csv", pairs),
        **more,
    )


class TestIdsByOverlap:
    @pytest.mark.parametrize("header", ["links,rechts,Urteil", "B,A,x", "Eins,Zwei,!"])
    def test_whatever_the_columns_are_called(self, tmp_path, header):
        pairs = PAIRS.replace("links,rechts,Urteil", header)
        asked = find(tmp_path, POINTS, pairs)
        assert asked.points.id_column == "Kundennummer"
        assert {frozenset(pair) for pair in asked.index.tolist()} == {
            frozenset((1, 2)),
            frozenset((3, 8)),
        }
        assert asked.t.tolist() == [1, -1]

    def test_the_columns_of_pairs_in_any_order(self, tmp_path):
        pairs = "Urteil,wer,rechts,links\ngleich,ich,K01,K02\nverschieden,du,K03,K08\n"
        asked = find(tmp_path, POINTS, pairs)
        assert asked.index.tolist() == [[1, 2], [3, 8]]

    def test_whole_numbers_that_cannot_be_row_numbers(self, tmp_path):
        points = POINTS.replace("K", "70").replace("70undennummer", "Kundennummer")
        pairs = PAIRS.replace("K", "70")
        asked = find(tmp_path, points, pairs)
        assert asked.points.id_column == "Kundennummer"
        assert asked.index.tolist() == [[1, 2], [3, 8]]

    def test_row_numbers_from_zero_under_any_name(self, tmp_path):
        points = "x,y\n" + "".join(f"{k}.5,{k % 3}.5\n" for k in range(6))
        pairs = "links,rechts,Urteil\n0,5,gleich\n1,4,verschieden\n"
        assert find(tmp_path, points, pairs).index.tolist() == [[0, 5], [1, 4]]

    def test_a_few_unknown_points_are_named(self, tmp_path):
        pairs = PAIRS + "K04,K99,gleich\n"
        with pytest.raises(TableError, match=r"'K99'.*--skip-unknown"):
            find(tmp_path, POINTS, pairs)
        asked = find(tmp_path, POINTS, pairs, skip_unknown=True)
        assert asked.index.tolist() == [[1, 2], [3, 8]]

    @pytest.mark.parametrize(
        ("points", "pairs", "message"),
        [
            (  # two columns of ids, both with all of them
                "eins,zwei,x\nu,u,1\nv,v,2\nw,w,4\n",
                "links,rechts,Urteil\nu,v,gleich\n",
                "the ids of the pairs are in 'eins' or 'zwei'; .* --id 'eins'",
            ),
            (  # two couples of columns in the pairs
                "eins,zwei,x\nu,a,1\nv,b,2\nw,c,4\n",
                "k,l,m,n,Urteil\nu,v,a,b,gleich\n",
                "may be in 'k' and 'l', .* or in 'm' and 'n', .* --left and --right",
            ),
            (  # three columns that hold ids
                POINTS,
                "k,l,m,Urteil\nK01,K02,K03,gleich\n",
                r"3 column\(s\) hold ids of points \('k', 'l', 'm'\).*--left and",
            ),
            (  # a numbering that may be that of the rows
                "nr2,x\n3,1.5\n1,2.5\n2,4.5\n",
                "links,rechts,Urteil\n1,2,gleich\n",
                "use --id 'nr2', or, if they are row numbers, --first-row",
            ),
            (POINTS, "links,rechts,Urteil\nQ1,Q2,gleich\n", "--left and --right"),
        ],
    )
    def test_what_is_not_clear_is_named_with_the_option(
        self, tmp_path, points, pairs, message
    ):
        with pytest.raises(TableError, match=message):
            find(tmp_path, points, pairs)


class TestAnswersInAnyWords:
    def test_no_word_has_two_meanings(self):
        same, different, unsure = (ANSWERS[name] for name in ANSWERS)
        assert not same & different
        assert not same & unsure
        assert not different & unsure

    @pytest.mark.parametrize(
        "words",
        [
            ("ja", "Nein", "weiß nicht"),
            ("oui", "non", "je ne sais pas"),
            ("même", "différent", "incertain"),
            ("sí", "no", "no sé"),
            ("stesso", "diverso", "non so"),
            ("sim", "não", "talvez"),
            ("hetzelfde", "anders", "weet niet"),
            ("tak", "nie", "nie wiem"),
            ("同じ", "違う", "わからない"),
            ("相同", "不同", "不知道"),
        ],
    )
    def test_languages(self, words):
        assert parse_answers(list(words)).t.tolist()[:2] == [1, -1]
        assert parse_answers(list(words)).sure.tolist() == [True, True, False]

    def test_accents_in_two_parts_are_the_same_letters(self):
        assert parse_answers(["me\u0302me", "non"]).t.tolist() == [1, -1]

    def test_words_of_ones_own(self):
        known = AnswerWords(["paar", "zwilling"], ["Fremde"], ["egal"])
        found = parse_answers(
            ["Paar", "Zwilling", "fremde", "egal", "yes"], known=known
        )
        assert found.t.tolist()[:3] == [1, 1, -1]
        assert found.sure.tolist() == [True, True, True, False, True]

    def test_an_unknown_word_is_told_with_the_option(self):
        with pytest.raises(TableError, match="--same 'passt'; if different, --differe"):
            parse_answers(["passt", "no"])

    def test_numbers_may_be_words(self):
        known = AnswerWords(["0"], ["1"])
        assert parse_answers(["0", 1, "1"], known=known).t.tolist() == [1, -1, -1]

    def test_a_word_that_is_turned_round_needs_its_opposite(self):
        known = AnswerWords(same=["no"])
        with pytest.raises(TableError, match=r"'yes' occurs, .* --different 'yes'"):
            parse_answers(["no", "yes"], known=known)
        known = AnswerWords(same=["no"], different=["yes"])
        assert parse_answers(["no", "yes"], known=known).t.tolist() == [1, -1]

    def test_a_word_that_nobody_says_is_told(self):
        found = parse_answers(["yes", "no"], known=AnswerWords(["jaa"]))
        assert found.notes == ["--same 'jaa': no answer says so"]

    @pytest.mark.parametrize("words", [(["ja"], ["JA"]), ([" "], [])])
    def test_words_that_contradict_each_other(self, words):
        with pytest.raises(OptionError):
            AnswerWords(*words)

    def test_columns_of_yes_and_no_need_a_name(self, tmp_path):
        """Somebody may have asked whether the two points differ."""
        pairs = PAIRS.replace("gleich", "ja").replace("verschieden", "nein")
        with pytest.raises(TableError, match="may be in 'Frage'; say which with --ans"):
            find(tmp_path, POINTS, pairs.replace("Urteil", "Frage"))
        asked = find(tmp_path, POINTS, pairs.replace("Urteil", "Antwort"))
        assert asked.t.tolist() == [1, -1]
        asked = find(
            tmp_path,
            POINTS,
            pairs.replace("Urteil", "anders?"),
            same=["nein"],
            different=["ja"],
        )
        assert asked.t.tolist() == [-1, 1]


class TestDelimiter:
    def test_the_page_fits_with_the_same_one(self):
        assert DEFAULTS["delimiter"] is None
        assert fit_options({"delimiter": ";"}, None) == ["--delimiter", ";"]

    def test_a_sign_that_is_not_found_by_itself(self, tmp_path):
        points, pairs = (text.replace(",", "#") for text in (POINTS, PAIRS))
        asked = find(tmp_path, points, pairs, delimiter="#")
        assert asked.index.tolist() == [[1, 2], [3, 8]]

    def test_a_table_without_it_is_read_as_before(self, tmp_path):
        asked = find(tmp_path, POINTS.replace(",", "\t"), PAIRS, delimiter="tab")
        assert asked.index.tolist() == [[1, 2], [3, 8]]
        (note,) = asked.notes
        assert note.startswith("pairs.csv: a comma divides its cells, and not a tab")

    @pytest.mark.parametrize("sign", ["", "ab", " ", "a", "7", '"', "\n", "é", "."])
    def test_signs_that_cannot_be(self, tmp_path, sign):
        with pytest.raises(OptionError, match="cannot divide the cells"):
            find(tmp_path, POINTS, PAIRS, delimiter=sign)

    def test_a_row_that_does_not_fit_names_the_option(self, tmp_path):
        with pytest.raises(TableError, match=r"line 3: 3 cells, .* --delimiter"):
            find(tmp_path, "id,x\n1,2\n3,4,5\n", PAIRS)
