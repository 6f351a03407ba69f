"""Clauses without a subject, whose verb can only be the author's: "Sold the car", "on sertraline now"."""

from __future__ import annotations

import re

#: What may stand before the verb, and the verb.
HEADLESS = re.compile(
    r"^(?:(?:so|and|but|ok|okay|well|oh|yeah|yes|yep|no|nope|hey|hi|ugh|omg|guess what|finally|just|also|btw"
    r"|by the way|now|today|yesterday|recently|honestly|anyway|currently|still|lately|then|originally|technically"
    r"|sadly|officially|right|update|so then),? )*"
    r"(?P<verb>(?:been|being) (?=[a-z]+(?:ing|ed) |an? |on |in |with |off |to |married|engaged"
    r"|vegan|vegetarian|sober|single|divorced|widowed|allergic|into|teetotal)|(?:moved|switched|started|left"
    r"|quit|sold|bought|adopted|rescued|got|lost|did"
    r"|graduated|retired|stopped|gave|turned|changed|broke|split|born|raised|bred|brought up|grew|live|living"
    r"|work|working|worked|married|divorced|engaged|allergic|based|bald|suffering from|prone to|partial to"
    r"|keen on|fond of|obsessed with|addicted to|hooked on|mad about|treated"
    r"|fell|fallen|welcomed|named|going|came out|come out in"
    r"|handed in|dropped|decided|came off|come off"
    r"|went off|went|put|picked up|took up|taken up|joined|became|finished|swapped|traded|bad at|good at|teaching"
    r"|studying|doing|learning|training|pursuing|preparing for|reporting|reading(?= [a-z ]+ at)"
    r"|applying|visiting|volunteering"
    r"|booked|saving|aiming|looking to|gonna|always wanted(?= to )|wish to|getting|hosting"
    r"|organising|organizing|arranging|placed|posted|employed"
    r"|renting|running|raising|dating|seeing|looking after|taking|recovering"
    r"|diagnosed|used to|have|having|had|own|can't|cannot|hate|love|prefer|trying to|planning|hoping"
    r"|saving up|thinking of|off to|moving|expecting|scared of|terrified of|petrified of|afraid of|hit"
    r"|never(?= (?:been|had|liked|loved|smoked|drank|drunk|touched|owned|married|wanted|got|cared|tried|lived"
    r"|eaten|enjoyed) )|(?:haven't|havent|have never)"
    r"|(?:don't|dont|do not)(?= (?:really|actually|even|much|like|have|own|enjoy|care for|drink|smoke|work|drive)\b)"
    r"|emigrated|immigrated|migrated|was(?= (?:born|raised|brought|bred|diagnosed) )|reared"
    r"|residing|settled|calling|spent|celebrated|fluent in|bilingual in|conversational in|dyed|cut|shaved"
    r"|transferred|shifted|relocated|upgraded|downgraded|ditched|binned|scrapped|hung up|tied the|gone|been at|parted"
    r"|packed|jacked|chucked|resigned|retrained|accepted|signed|landed|hired|promoted|made redundant|laid off"
    r"|let go|fired|sacked|cancelled|canceled|closed|opened|shut|let|raised|lowered|increased|reduced|upped|bumped"
    r"|replaced|exchanged|rehomed|had to|buried|said goodbye|kicked|cutting|eating|drinking|flying|driving|starting"
    r"|joining|back (?:on|to|in|at|with)|off|on(?= [a-z]+ (?:now|instead|these days))|down to|done with|through with"
    r"|finished with|knocked|stubbed|pulled out|withdrew|waved|jumped|found|no longer|given"
    r"|not(?= (?:allergic|doing|taking))|weaned|wrote off|now (?:at|with|on|in|an?)) )",
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
    r"|mad about|(?:raised|bred) (?:in|on|near|by|as|speaking|(?-i:[A-Z]))|based in|(?:fluent|bilingual"
    r"|conversational) in|(?:scared|terrified|petrified|afraid|allergic|married|divorced|engaged) "
    r"|(?:back (?:on|to|in|at|with)|off(?! to)|on|down to|done with|through with|finished with|made redundant|laid off"
    r"|let go|fired|sacked|hired|promoted|now|not(?= allergic)) )",
    re.IGNORECASE,
)

#: Where a clause without a subject goes on with another verb of the same subject.
COMMA = re.compile(r"(?:, | - | [–—] )(?:and |so |but )?(?=[a-zA-Z]+ )")
MOST_PARTS = 4
#: Of a list, unless it is new: "been writing about novels, studying characters".
GOING_ON = re.compile(r"(?!starting|joining)[a-z]+ing ", re.IGNORECASE)

#: When something is still to come: "starting a course next week" is a plan.
AHEAD = re.compile(
    r"\b(?:next (?:week|month|year|weekend|spring|summer|autumn|fall|winter|term|semester|[a-z]+day)|tomorrow"
    r"|this (?:coming )?(?:spring|summer|autumn|fall|winter|[a-z]+day)|later this|in the new year"
    r"|(?:in|over|after|before|for) (?:a (?:week|month|year)|january|february|march|april|may|june|july|august"
    r"|september|october|november"
    r"|december|christmas|xmas|easter|diwali|eid|thanksgiving|the (?:spring|summer|autumn|winter|holidays))"
    r"|on (?:the [0-9]{1,2}(?:st|nd|rd|th)|[a-z]+day(?!s)))\b",
    re.IGNORECASE,
)
