"""How clauses without a subject begin, whose verb can only be the author's: "Sold the car", "just moved to Oslo"."""

from __future__ import annotations

import re

#: What may stand before the verb, and the verb.
HEADLESS = re.compile(
    r"^(?:(?:so|and|but|ok|okay|well|oh|yeah|yes|yep|no|nope|hey|hi|ugh|omg|guess what|finally|just|also|btw"
    r"|by the way|now|today|yesterday|recently|honestly|anyway|currently|still|lately|then|originally|technically"
    r"|sadly),? )*(?P<verb>(?:been|being) (?=[a-z]+(?:ing|ed) |an? |on |in |with |off |to |married|engaged"
    r"|vegan|vegetarian|sober|single|divorced|widowed|allergic|into|teetotal)|(?:moved|switched|started|left"
    r"|quit|sold|bought|adopted|rescued|got|lost|did"
    r"|graduated|retired|stopped|gave|turned|changed|broke|split|born|raised|bred|brought up|grew|live|living"
    r"|work|working|worked|married|divorced|engaged|allergic|based|bald|suffering from|prone to|partial to"
    r"|keen on|fond of|obsessed with|addicted to|hooked on|mad about|treated"
    r"|fell|fallen|welcomed|named|going|came out|come out in|off(?= (?:the )?(?:booze|fags|cigs|meds|dairy|meat"
    r"|sugar|gluten|alcohol))|handed in|dropped|decided|came off|come off|went off"
    r"|went|put|picked up|took up|taken up|joined|became|finished|swapped|traded|bad at|good at|teaching"
    r"|studying|doing|learning|training|renting|running|raising|dating|seeing|looking after|taking|recovering"
    r"|diagnosed|used to|have|had|own|can't|cannot|hate|love|prefer|trying to|planning|hoping"
    r"|saving up|thinking of|off to|moving|expecting|scared of|terrified of|petrified of|afraid of|hit"
    r"|never(?= (?:been|had|liked|loved|smoked|drank|drunk|touched|owned|married|wanted|got|cared|tried|lived"
    r"|eaten|enjoyed) )|(?:haven't|havent|have never)"
    r"|(?:don't|dont|do not)(?= (?:really|actually|even|much|like|have|own|enjoy|care for)\b)"
    r"|relocated|emigrated|immigrated|migrated|shifted|was(?= (?:born|raised|brought|bred|diagnosed) )|reared"
    r"|residing|settled|calling|spent|celebrated|fluent in|bilingual in|conversational in|dyed|cut|shaved) )",
    re.IGNORECASE,
)


#: "Learning German is fun": what stands first is done by nobody.
GERUND = re.compile(
    r"\b(?:is|are|was|were|has|have|can|could|will|would|sounds?|helps?|makes?|seems?|gives?|keeps?|feels?|takes?)\b",
    re.IGNORECASE,
)

#: What is said with "I am" or "I was" where the subject is left out.
STATE = re.compile(
    r"(?:born|reared|brought up|bald|keen on|fond of|partial to|prone to|obsessed with|addicted to|hooked on"
    r"|mad about|off (?!to )|(?:raised|bred) (?:in|on|near|by|as|speaking|(?-i:[A-Z]))|based in|(?:fluent|bilingual"
    r"|conversational) in|(?:scared|terrified|petrified|afraid|allergic|married|divorced|engaged) )",
    re.IGNORECASE,
)
