"""Profiles by a language model: the prompt, its input about a subject, and the check of a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.consolidate.synthesize.observations import StoredProfile
from reverie.consolidate.synthesize.reply_reader import ShownReply, Synthesis
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt
from reverie.language.grounding import ungrounded
from reverie.language.text import written_day
from reverie.llm.answers import InvalidReply, ModelAnswer
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput, input_hash
from reverie.model.scaffold import BASES, entry_text, nested_values, opened_json, scaffold_leaves
from reverie.policy import Policy
from reverie.store.runs import Run

#: Tokens that a reply may have, for a narrative, entries and facts.
_MAX_TOKENS = 4000
#: Words of a profile that need no source.
_OWN_WORDS = "User Role Goals Projects Preferences Has Is Was Works Lives Likes Prefers Wants Needs Uses Owns Plans"


@dataclass(frozen=True, slots=True)
class SubjectAnswer:
    """The input about a subject, and the model's answer."""

    shown: PromptInput
    answer: ModelAnswer[Synthesis]
    model: str

    def reply(self) -> ShownReply | None:
        """Return the reply with its input, or None if there was no usable reply."""
        if self.answer.reply is None:
            return None
        return ShownReply(
            reply=self.answer.reply,
            shown=_shown_texts(self.shown),
            model=self.model,
            input_hash=input_hash(self.shown),
        )


def synthesis_prompt(policy: Policy) -> Prompt[Synthesis]:
    """Return the prompt for profiles, with the policy's numbers."""
    numbers = policy.profile
    return load_prompt(
        "synthesize",
        Synthesis,
        max_tokens=_MAX_TOKENS,
        words=numbers.narrative_words,
        depth=numbers.depth,
        facts=numbers.facts,
    )


def ask_profiles(
    attempt: Run, model: LanguageModel, prompt: Prompt[Synthesis], profiles: Sequence[StoredProfile]
) -> dict[str, SubjectAnswer]:
    """Ask about each profile and return the answers by subject.

    No connection is held while the model works. Raises the errors of `ask` if the model cannot be used at all.
    """
    attempt.report.model = model.key
    policy = attempt.work.policy
    inputs = [profile_input(profile, policy) for profile in profiles]
    check = NarrativeCheck(policy.profile.narrative_words)
    answers = ask(ModelCaller.of_run(attempt), model, prompt, inputs, check=check)
    return {
        shown.subject_id: SubjectAnswer(shown, answer, model.key) for shown, answer in zip(inputs, answers, strict=True)
    }


def profile_input(profile: StoredProfile, policy: Policy) -> PromptInput:
    """Return a model's input about a subject: the profile, and the observations that wait for it, with their types."""
    letters, observations = policy.profile.excerpt_letters, profile.observations
    # opened again: an earlier version kept numbers that no request can hold
    values = [(entry.path, opened_json(entry.value)) for entry in profile.active if not entry.connection_id]
    content = {
        "date": written_day(max(each.at for each in observations)),
        "current_working_memory": profile.narrative,
        "current_scaffold": nested_values(values),
        "new_observations": [{"type": each.type, "text": each.excerpt(letters)} for each in observations],
    }
    source_ids = [each.id for each in observations]
    return PromptInput(subject_id=profile.subject_id, content=content, source_ids=source_ids)


class NarrativeCheck:
    """Rejects a subject's first reply if its narrative is too long or ungrounded; a second reply is shortened."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._rejected: set[str] = set()

    def __call__(self, shown: PromptInput, reply: Synthesis) -> InvalidReply | None:
        """Return the reason why the model must reply again, at most once for each subject."""
        if shown.subject_id in self._rejected:
            return None
        self._rejected.add(shown.subject_id)
        length = len(reply.updated_working_memory.split())
        if length > self._words:
            hint = f"updated_working_memory had {length} words; {self._words} are allowed"
            return InvalidReply(reason="too_long", hint=hint)
        if invented := ungrounded(reply.updated_working_memory, _shown_texts(shown)):
            hint = f"the data does not say {', '.join(invented[:10])}"
            return InvalidReply(reason="ungrounded", hint=hint)
        return None


def _shown_texts(shown: PromptInput) -> list[str]:
    """Return everything that the model was shown, as texts."""
    content: Mapping[str, Any] = shown.content
    leaves = scaffold_leaves(content["current_scaffold"], depth=len(BASES) * 2)
    scaffold = " ".join(entry_text(path, value) for path, value, _ in leaves)
    observations = [f"{each['type']}: {each['text']}" for each in content["new_observations"]]
    return [
        _OWN_WORDS, shown.subject_id, content["date"], content["current_working_memory"], scaffold, *observations
    ]  # fmt: skip
