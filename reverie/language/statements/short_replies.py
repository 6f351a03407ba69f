"""Short replies as the statements that they are: "Where do you live?" "Pune." says "I live in Pune."

A reply is completed by the policy's sentence for the question before it, and the rules then read that sentence like any
other. What has a subject or a verb of its own is not completed: the rules read it as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from reverie.language.cues import wording
from reverie.language.cues.compiled import CompiledReply

#: The last question of a turn.
_LAST_QUESTION: Final = re.compile(r"([^.!?\n]*)\?[?!\"')]*$")
#: A reply up to its first full stop, its first clause with a subject, or a remark in brackets.
_FIRST: Final = re.compile(
    r"^(?P<said>.+?)(?:[!?;(\n]|\.(?: |$)|,? (?:-|–|—) "
    r"|,? (?:and |but |because |so |though |although )?"
    r"(?:i|i['’]\w+|we|we['’]\w+|he|he['’]s|she|she['’]s|they|they['’]re|it|it['’]?s|you|but|because|though|although|who|which)\b|,?$)",
    re.IGNORECASE,
)


def _words(words: str) -> str:
    return "|".join(word.replace("'", "['’]?") for word in words.split())


#: What comes before an answer and says nothing of it.
_BEFORE: Final = _words("""
    oh um+ uh+ er+ hm+ well ha(?:ha)+ lol just actually honestly so like mostly mainly basically currently probably
    definitely yes yeah yep yup it's mine(?:'?s)? they're there's got in at for as to
""")
_LEAD: Final = re.compile(rf"^(?:(?:{_BEFORE}|it is|that would be|mine is|my name['’]?s)\b[,:! ]*)+", re.IGNORECASE)
#: Words of a reply that is a clause of its own, refuses an answer or asks back.
_OTHERWISE: Final = _words("""
    i i'm i've i'd i'll we you your he she they it this that those these is are was were am be been do does did don't
    not no nope nah none nothing nobody nowhere never maybe perhaps idk dunno depends? guess sure later secret private
    same here there both either neither why what who how when where which hard lots? many some any anything everything
    everywhere something ok okay thanks? please sorry haha lol hmm well let ask tell remember forgot can't couldn't
    won't has have had will would hi hello hey really again nevermind seriously anonymous whatever skip pass next stop
    cool nice good great fine wait old young lives? works? goes went gets? came comes moved stays? makes? made wants?
    needs? likes? loves? away alone abroad from only possible possibly enough too all long bad better worse soon now
    yet still since after before said says told means?
""")
_NO_ANSWER: Final = re.compile(rf"\b(?:never mind|{_OTHERWISE})\b", re.IGNORECASE)
_YES: Final = re.compile(
    r"^(?:yes|yeah|yep|yup|yea|ya|sure(?: do| am)?|i (?:do|am)|of course|absolutely|definitely|certainly|indeed|correct"
    r"|oh yes|yes i (?:do|am))(?:[,!. ]+(?:i (?:do|am)|very much|a lot|actually))?$",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^(?:no|nope|nah|not really|not at all|never|i (?:don['’]?t|do not)|i['’]?m not|no way|not any ?more)"
    r"(?:[,!. ]+(?:not really|never|sorry|not at all|i (?:don['’]?t|do not)|i['’]?m not|not any ?more))?$",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:an?|the|my|our|his|her|two|three|[0-9]+)\b", re.IGNORECASE)
#: Words that a completed answer has at most.
_MOST_WORDS: Final = 8


def answered(question: str, reply: str, replies: Sequence[CompiledReply]) -> str | None:
    """Return what a reply states as an answer to the last question of the turn before it, as a sentence; None: nothing.
    The first of the policy's answers whose question matches says how it is worded.
    """
    last = _LAST_QUESTION.search(question.strip())
    first = _FIRST.match(reply.strip())
    if last is None or first is None:
        return None
    asked, said = wording.plain(question.strip()), first["said"].strip(" ,:\"'“”")
    for each in replies:
        if (match := next((one for one in each.question.finditer(asked) if one.end() > last.start()), None)) is None:
            continue
        named = {name: text for name, text in match.groupdict().items() if text}
        if _YES.match(said) or _NO.match(said):
            template = each.rule.yes if _YES.match(said) else each.rule.no
            return template.format_map(named) if template else None
        bare = _LEAD.sub("", said).strip(" ,")
        is_answer = bool(bare) and len(bare.split()) <= _MOST_WORDS and _NO_ANSWER.search(bare) is None
        if each.rule.sentence is None or not is_answer:
            return None
        if each.form is not None and each.form.search(bare) is None:
            return None
        return each.rule.sentence.format_map(named | {"x": _with_article(bare) if each.rule.article else bare})
    return None


def _with_article(bare: str) -> str:
    """`nurse` as "a nurse"."""
    if _ARTICLE.match(bare):
        return bare
    return f"{'an' if bare[0].lower() in 'aeiou' else 'a'} {bare}"
