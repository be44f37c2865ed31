"""Commissions to try, and generators and validators that say what a test wants them to say."""

from dataclasses import replace

from umpirical.domain.responses import Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import GivenLabel, Stimulus
from umpirical.stimuli.generation.attempt import attempt
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms, Writer
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

TASK = "Should pupils wear school uniforms? Write an essay of a few sentences."

ESSAY = """\
I think that school uniforms are a good idea for most pupils. In 2019 a survey in Leeds asked 400 parents, and 61 of \
every 100 said that mornings were easier for them. My friend PROPER_NAME says the same about her own school.

Some people say that a uniform takes away freedom, but pupils can still show who they are by what they do. It also \
costs less than the clothes that are in fashion. So I believe that the school of Mrs. Harper should have one."""

PARAPHRASE = """\
To my mind it makes sense for the majority of children to wear a uniform at school. When 400 parents took part in a \
survey in Leeds in 2019, getting ready early in the day had become simpler for 61 out of 100. According to my friend \
PROPER_NAME, that is true of the place where she learns.

There are those who claim that freedom is lost with a uniform, yet children are able to express themselves through \
their deeds. Besides, buying it is cheaper than following fashion. For these reasons Mrs. Harper ought to introduce \
one at her school, in my opinion."""

ORDINAL = GradeScale("ordinal", ("1", "2", "3", "4", "5", "6"))
BINARY = GradeScale("binary", ("fail", "pass"))
NOMINAL = GradeScale("nominal", ("on topic", "off topic", "spam"))
INTERVAL = GradeScale("interval", low=0, high=100)

TERMS = GenerationTerms(
    instruction="Grade essays of {{school}} children, as Mrs. O'Neill asked.",
    rubric="6: clear and well argued.\n3: some reasons.\n1: none.  <-- two blanks",
    scale=ORDINAL,
    generator=Writer("writer-1", "loopback", 900),
    validator=Writer("reader-1", "loopback", 40),
)


def original(text=ESSAY, *, gold="5", task=TASK, name="a", strata=None):
    return Stimulus(
        task_id=name,
        task=task,
        candidates=(text,),
        expectation=GivenLabel(gold),
        maker="original/1",
        family="original",
        parent=f"item {name}",
        gold=gold,
        gold_from="label" if gold else None,
        strata=strata or {},
    )


def wanted(test="paraphrase", *, source=None, target="", terms=TERMS, **terms_changed):
    terms = replace(terms, **terms_changed)
    perturbation = PERTURBATIONS.get(test)
    if perturbation.expectation != "same-verdict" and not target:
        target = terms.scale.labels[1]
    return Commission(perturbation, terms, source or original(), target)


def said(text, *, finish="stop"):
    return Response("t", text, finish_reason=finish)


def refused(detail="content policy"):
    return Response("t", None, failure="refused", failure_detail=detail)


def drive(commission, number=0, *, text=None, opinions=(), others=()):
    """The settled attempt and everything that was asked; `text` and `opinions` are texts or whole responses."""
    answers = iter([text, *opinions])
    protocol = attempt(commission, number, others=others)
    asks = [next(protocol)]
    try:
        while True:
            answer = next(answers)
            asks.append(protocol.send(answer if isinstance(answer, Response) else said(answer)))
    except StopIteration as end:
        return end.value, asks


SAME, DIFFERENT = '{"verdict": "same"}', '{"verdict": "different"}'


def grade(label):
    return f'{{"grade": "{label}"}}'
