"""Of which words a model may make the keys of a profile (spec C8; Agent 9): common ones, and those that it was shown.

A key is written like a title, so that a name in it cannot be told by its capital: "Mallory": "a friend" would bring in
somebody whom nobody spoke of. So a word of a key is either shown, or one of those under which people file things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reverie.consolidate.contrast import read
from reverie.consolidate.grounding import ungrounded

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Words under which things are filed, as they come in many profiles; their stems count.
_HEADINGS = """
    ability about abroad academic access accessibility accessory accomplishment account achievement acquaintance
    action active activity actual added additional address admin admiration adult advice affiliation age agenda
    agent aim alarm alcohol allergy alternative ambition amount analysis ancestry anger animal anniversary answer
    anxiety apartment app appearance appliance application appointment approach architecture area argument
    arrangement art article asked aspiration asset assignment assistant association attendance attention attitude
    attribute audience author automation availability aversion avoid award awareness baby background backup balance
    ban bank banned base basic bathroom bed bedroom bedtime behavior belief belonging benefit best beverage bike
    bill biography birth birthday blocker blog board body book booking boss boundary brand break breakfast brother
    budget bug building business busy buying cake calendar call camera campaign capability caption car care career
    cause celebration center challenge change channel character chat check child chore circle citizenship city class
    cleaning client clothes clothing club coach code coding coffee collaboration collaborator colleague collection
    college color colour comfort comment commitment committee communication community commute companion company
    competition complaint completed computer concern condition conference confidence connection constraint contact
    content context contract contribution conversation cooking correction cost country couple course craft creation
    creative credential crew culture current custom customer dad daily dance data database date daughter day
    deadline deadlines debt decision default degree delivery department dependency design desire destination detail
    development device diagnosis diary diet dietary difficulty dinner direction disability discipline discussion
    disease dislike district document documentation dog domain dream dress drink driving duration duty earlier
    eating economy education effort elder electronics else email emergency emotion emotional employee employer
    employment engagement engineering entertainment environment equipment error essential ethics evaluation evening
    event everyday everything exam example exercise expectation expense experience experiment expertise explanation
    eye fact faith family farm fashion father favorite favourite fear feature feedback feeling festival field file
    film finance financial finding fitness flat flight flow focus food forbidden foreign form formality format
    former framework frequency friend friendship frustration fun function furniture future gadget game garden
    gardening gear gender general gift goal grade grandchild grandparent greeting grief group growth guest guide
    guideline habit hair handle happiness header health hearing height help heritage highlight hire history hobby
    holiday home hometown honor hope hospital host hour house household housing humor husband idea identifier
    identity illness important impression improvement incident income industry influence info information ingredient
    initiative injury input insight inspiration institution instruction instrument insurance integration intention
    interaction interest internet interview inventory investment issue item job journal journey key kid kind kitchen
    knowledge label land language last latest launch lead leader leadership learning legal leisure length lesson
    level library life lifestyle like limit limitation link list listening literature living loan local location
    long longest loss love loyalty lunch machine main maintenance management manager manner marital market marriage
    material matter meal meaning measurement media medical medication medicine meeting member membership memory
    mental mentor message method metric migration milestone mind mission mistake mobile mobility model mom money
    month mood morning mother motivation move movie music name nation nationality nature need neighbor neighborhood
    neighbour neighbourhood network never new news next nickname night note noted notification number nutrition
    object objective obligation observation obstacle occasion occupation offer office ongoing online open opening
    operation opinion opportunity option order organisation organization origin other outcome outdoor outlook output
    outstanding overview owner ownership pace pain paper parent parenting part partner party past patient pattern
    payment pending people performance period permission person personal personality pet phase phone photo
    photography physical picture pipeline place plan planning plant platform play podcast point policy politics
    portfolio position possession post practice preference preferred pregnancy presence present presentation
    previous price pride primary principle priority privacy private problem procedure process product profession
    professional proficiency profile program programming progress project promise pronoun property prospect public
    publication purchase purpose quality query question queue quirk quota quote race rank rating reaction reading
    reason recent recipe recipient recommendation recovery recreation recurring reference region regular relation
    relationship relative relaxation relevant religion relocation reminder rent reply report repository reputation
    request requirement research reservation residence resource respect response responsibility restaurant
    restriction result retirement review reward risk ritual role romance room routine rule running safety salary
    sale sample saving schedule scholarship school science season secondary secret security self sensitivity sensor
    sentiment series server service session setting setup shape share shift shoe shop shopping short shortest
    sibling side sign situation size sketch skill sleep slot small snack social society software solution son song
    soon source spare special specialization specialty spending spiritual sport spouse sprint stack staff stage
    stakeholder stance standard standing state status step store story strategy strength stress structure struggle
    student study style subject success sugar suggestion summary supplement supplier support surgery surrounding
    survey symptom system talk target task taste tax teaching team technical technique technology tempo tension term
    test theme therapy thing thought ticket time timeline timezone tip title today together tolerance tone tool top
    topic total trade tradition training trait transport transportation travel treatment trend trigger trip trouble
    trust tutorial type unit university upcoming update urgent usage use user vacation vaccination value vehicle
    vendor venue version video view vision visit vocabulary voice volunteer volunteering wake wardrobe warning watch
    way weakness wealth weather website wedding week weekday weekend weight welfare wellbeing wellness wife win wish
    word work workflow working workload workplace workshop workspace worry worst writing year young
"""


def unfiled(path: Sequence[str], sources: Sequence[str], language: str) -> list[str]:
    """Return the words and numbers of the keys of a path that stand in none of the sources and file nothing.

    Of another language than English we know no such words, so that numbers alone count.
    """
    words = [word for key in path for word in _CAMEL.sub(" ", key).replace("_", " ").casefold().split()]
    known = _stems(_HEADINGS) | {stem for source in sources for stem in read(source).content}
    if language != "english":
        return ungrounded(" ".join(words), sources)
    strange = [word for word in words if not known.issuperset(read(word).content)]
    return strange + ungrounded(" ".join(words), sources)


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(read(words).content)
