"""Writes a datasheet study to start from."""

from pathlib import Path

from umpirical.protocols.protocol import NewStudy
from umpirical.protocols.start import new_study_file, scalar, study_name
from umpirical.store.files import write_text

STUDY = """\
# A study: which judges are measured, and how.  umpirical schema config  lists every key.
study: {name}
seed: 1

judges:
  # Two simulated judges, which need no key and no network: a sound one, and one that names slot 1 whatever is in it.
  - name: sound
    model: {{adapter: simulated, name: careful}}
  - name: locked
    model: {{adapter: simulated, name: slot-locked}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   prompts: {{baseline: my-prompt.md}}   # needs {{{{task}}}}, {{{{first}}}} and {{{{second}}}}
  #   decoding: {{temperature: 0, max_tokens: 256}}

  # Your own judge, as a Python function: judge(task, first, second) -> "1", "2", "tie" or "abstain"
  # - name: mine
  #   callable: my_judge:judge

# Answers of your own, with claims in them that you verified, are measured apart:
# carriers: answers.yaml    # answers: [{{id: a, task: ..., answer: ..., claims: [a passage of the answer]}}]
#                           # and context: what it is grounded in, if anything

design:
  repeats: 1

concurrency: 16
"""


def start_study(folder: Path) -> NewStudy:
    """Writes a study file that runs as is. Never overwrites a file."""
    file = new_study_file(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, STUDY.format(name=scalar(study_name(folder))))
    return NewStudy(file, (file,))
