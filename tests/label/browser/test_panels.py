"""History and progress: looking back, changing, naming, taking along."""

from tests.support.browser import expect
from tests.support.label_page import answer, back, entry, go_to, saved, shown
from tests.support.label_tables import cancer


def pair(fake, number):
    question = fake.question(number)
    return f"{question['left']['id']} and {question['right']['id']}"


def test_an_answer_is_changed_from_the_history(serve, visit):
    served = serve()
    page = visit(served.url)
    numbers = answer(page, "same", "different", "same", "unsure")
    page.keyboard.press("h")
    expect(page.get_by_text("4 answers, newest first.")).to_be_visible()
    line = entry(page, pair(served.fake, numbers[1]))
    expect(line.get_by_role("button", name="Different")).to_have_attribute(
        "aria-pressed", "true"
    )
    line.get_by_role("button", name="Show the pair").click()
    expect(line.get_by_role("table")).to_be_visible()
    line.get_by_role("button", name="Same").click()
    expect(line.get_by_text("changed")).to_be_visible()
    saved(page)
    assert served.fake.standing[numbers[1]]["said"] == "same"
    assert len(served.fake.standing) == 4
    line.get_by_role("button", name="Comment").click()
    page.get_by_label("A comment on").fill("looked again")
    page.keyboard.press("Control+Enter")
    expect(line.get_by_text("“looked again”")).to_be_visible()
    saved(page)
    assert served.fake.comments == {numbers[1]: "looked again"}
    page.keyboard.press("h")
    expect(page.locator("#view-answer")).to_be_visible()


def test_the_history_is_searched_and_scrolled(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    for number in range(200, 320):
        served.fake.keep(number, "same")
    served.fake.comments[201] = "a needle"
    go_to(page, "History")
    lines = page.get_by_role("group", name="Answer for")
    expect(lines).to_have_count(50)
    page.get_by_role("button", name="Show earlier answers").click()
    expect(lines).to_have_count(100)
    page.get_by_role("button", name="Show earlier answers").click()
    expect(lines).to_have_count(120)
    expect(page.get_by_role("button", name="Show earlier answers")).to_be_hidden()
    page.get_by_label("Search").fill("needle")
    expect(lines).to_have_count(1)
    expect(page.get_by_text("“a needle”")).to_be_visible()
    page.get_by_label("Search").fill("nothing like this")
    expect(page.get_by_text("No answer fits this search.")).to_be_visible()


def test_the_progress_is_for_the_owner(serve, visit):
    served = serve(owner=False)
    page = visit(served.url)
    answer(page, "same")
    assert page.get_by_role("link", name="Progress").count() == 0
    page.goto(f"{served.url}#progress")
    expect(page.locator("#view-answer")).to_be_visible()
    assert all(path != "progress" for path, _ in served.fake.seen)


def test_the_progress_shows_what_is_known(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same", "same", "different", "unsure", "same")
    saved(page)
    go_to(page, "Progress")
    facts = page.locator(".numbers")
    expect(facts).to_contain_text("Answers5")
    expect(facts).to_contain_text("Same3")
    expect(
        page.get_by_role("img", name="Error 4.2 %; between 1.4 % and 8.3 %")
    ).to_be_visible()
    granted = page.get_by_text("Every answer is taken as right.")
    expect(granted).to_be_hidden()
    page.get_by_text("What this takes for granted").click()
    expect(granted).to_be_visible()
    expect(page.get_by_role("img", name="Learning curve.")).to_be_visible()
    page.get_by_text("The curve as a table").click()
    table = page.get_by_role("region", name="The curve as a table")
    expect(table.get_by_role("row")).to_have_count(12)
    expect(page.get_by_text("About 40 more answers")).to_be_visible()
    served.fake.keep(300, "unsure")
    expect(facts).to_contain_text("Unsure2")


def test_columns_that_the_model_does_not_see_are_named(serve, visit):
    table = cancer()
    table.columns[3] = table.columns[3] | {"unlearned": True}
    told = "The model learns nothing from"
    page = visit(serve(table).url)
    shown(page)
    go_to(page, "Progress")
    expect(page.get_by_text(f"{told} mean area:")).to_be_visible()
    page = visit(serve().url)
    shown(page)
    go_to(page, "Progress")
    expect(page.get_by_text(told)).to_have_count(0)


def test_contradictions_stand_side_by_side_and_are_changed(serve, visit):
    served = serve()
    page = visit(served.url)
    numbers = answer(page, *["same"] * 5)
    saved(page)
    go_to(page, "Progress")
    review = page.get_by_role("region", name="Worth a second look")
    groups = review.get_by_role("group", name="Answer for")
    expect(groups).to_have_count(5)
    expect(review.get_by_text("the model is sure of the opposite.")).to_have_count(2)
    one = review.get_by_role(
        "group", name=f"Answer for {pair(served.fake, numbers[0])}"
    )
    one.get_by_role("button", name="Different").click()
    saved(page)
    assert served.fake.standing[numbers[0]]["said"] == "different"
    review.get_by_role("button", name="Show the pair").first.click()
    expect(review.get_by_role("table")).to_be_visible()
    back(page)


def test_people_see_how_far_they_agree_and_what_is_to_be_settled(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, *["same"] * 2)
    saved(page)
    go_to(page, "Progress")
    people = page.get_by_role("region", name="People")
    expect(people.get_by_role("columnheader")).to_have_text(["Name", "Answers"])
    back(page)
    served.fake.others = ["Ben"]
    go_to(page, "Progress")
    heads = ["Name", "Answers", "Agrees with others"]
    expect(people.get_by_role("columnheader")).to_have_text(heads)
    expect(people.get_by_role("row").nth(1)).to_contain_text("88 %")
    expect(people.get_by_role("row").nth(2)).to_contain_text("not known yet")
    expect(people.get_by_text("agree in 88% of them")).to_be_visible()
    review = page.get_by_role("region", name="Worth a second look")
    expect(review.get_by_role("heading", level=3).first).to_have_text(
        "Pairs that people answered differently"
    )


def test_the_owner_is_told_who_seems_to_answer_at_random(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    rate = {"rate": 0.52, "low": 0.4, "high": 0.63}
    served.fake.others = ["Ben"]
    served.fake.rates = {"Ben": {"right_same": rate, "right_different": rate}}
    warning = "Ben <b>seems</b> to answer at random."
    served.fake.warnings = [warning]
    go_to(page, "Progress")
    people = page.get_by_role("region", name="People")
    heads = ["Name", "Answers", "Agrees with others"]
    heads += ["Right if same", "Right if different"]
    expect(people.get_by_role("columnheader")).to_have_text(heads)
    row = people.get_by_role("row").filter(has_text="Ben")
    expect(row).to_contain_text("52 % (40 % to 63 %)")
    # As text, and not as markup.
    expect(people.get_by_text(warning)).to_be_visible()


def test_groups_get_names_and_typing_is_not_disturbed(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    go_to(page, "Progress")
    first = page.get_by_label("Name of group 1")
    first.fill("malignant")
    served.fake.keep(300, "unsure")
    expect(page.locator(".numbers")).to_contain_text("Unsure1")
    expect(first).to_have_value("malignant")
    page.get_by_label("Name of group 2").fill("benign")
    page.get_by_role("button", name="Save the names").click()
    expect(page.get_by_text("The names are saved.").first).to_be_visible()
    assert served.fake.names == {"0": "malignant", "1": "benign"}


def test_files_are_made_and_downloaded(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same")
    go_to(page, "Progress")
    page.get_by_role("button", name="Make predictions.csv").click()
    link = page.get_by_role("link", name="Download predictions.csv")
    expect(link).to_be_focused()
    with page.expect_download() as waiting:
        link.click()
    assert waiting.value.suggested_filename == "predictions.csv"
    assert waiting.value.path().read_text().startswith("id,class\np0001,")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download pairs.csv").click()
    assert waiting.value.suggested_filename == "pairs.csv"
