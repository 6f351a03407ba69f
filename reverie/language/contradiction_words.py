"""English words that make two similar sentences contradict each other. Data of `contradiction`; one group per line."""

from __future__ import annotations


def _groups(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words without content of their own.
STOP = _words("""
    a an the this that these those of in on at to for from with by as into about and or is am are was were be
    been being has have had do does did i me my mine you your user they them their it its we us our
    so very really also just
    too even still quite up out s there here which who would should could can may shall will than but each every any
    some all more most much when while if because then own lot sent using
""")

#: Each word of a line means the same as the first.
SYNONYMS = {
    word: group[0]
    for group in _groups(
        """
        mother mom mum mommy mummy mama
        father dad daddy papa
        grandmother grandma granny
        grandfather grandpa
        child kid children kids
        husband hubby
        boss manager
        colleague coworker
        client customer clients customers
        wife wives
        name called named names
        favourite favorite favorites favourites
        colour color colors colours
        film movie movies films
        job jobs work works working
        photo picture photograph photos pictures
        scared afraid frightened
        advertising ad ads advertisement advertisements
        car automobile
        big large huge
        small tiny
        young little younger
        bicycle bike
        answer reply
        prepare train training preparing
        wake get-up
        begin start starts started begins begun
        run ran
        eat ate
        prefers prefer like likes love loves enjoy enjoys adore adores fond
        """
    )
    for word in group
}

#: What follows, up to the end of the clause, is denied.
DENY = _words("""
    not no never without none neither nor nothing nobody hardly barely rarely seldom cannot cant dont doesnt
    didnt isnt wasnt wont
""")

#: The same, and denied itself; after a denial ("doesn't avoid") it affirms. A value is what it is the opposite of.
OPPOSITE = {
    line[0]: line[1] if len(line) > 1 else ""
    for line in _groups(
        """
        hates like
        hate like
        hated like
        dislikes like
        dislike like
        disliked like
        detests like
        detest like
        loathes like
        loathe like
        despises like
        despise like
        avoids
        avoid
        avoiding
        refuses accept
        refuse accept
        declines accept
        rejects accept
        stopped
        stop
        stops
        quit
        quits
        cancelled
        canceled
        lacks
        lack
        former
        formerly
        ex
        unhappy happy
        dissatisfied satisfied
        unable able
        unwilling willing
        closed open
        distrusts trust
        disagrees agree
        forbids allow
        bans allow
        disabled enabled
        """
    )
}

#: "Can't stand" is to dislike.
BEARING = _words("stand bear tolerate")

#: Several words that deny what follows.
DENY_PHRASES = (
    ("no", "longer"),
    ("used", "to"),
    ("gave", "up"),
    ("given", "up"),
    ("gives", "up"),
    ("moved", "out"),
    ("broke", "up"),
    ("sick", "of"),
    ("tired", "of"),
    ("instead", "of"),
    ("rather", "than"),
    ("passed", "over"),
)

#: Where the reach of a denial ends.
CLAUSE_END = _words("but though although yet however whereas because unless when except")

#: After "and" these begin a new, affirmed clause.
AFFIRM = _words("love loves like likes enjoy enjoys prefer prefers want wants adores is has can eats drinks")

#: Words of one line exclude each other: both texts name one, and neither names all of the other's.
EXCLUSIVE = {
    word: (number, word)
    for number, group in enumerate(
        _groups(
            """
            monday tuesday wednesday thursday friday saturday sunday weekday weekend
            january february march april may june july august september october november december
            spring summer autumn winter monsoon
            morning afternoon evening night noon midnight
            breakfast lunch dinner
            hourly daily weekly fortnightly monthly quarterly yearly
            minute hour day week month year
            brother sister mother father son daughter husband wife uncle aunt grandmother grandfather nephew niece
            boss colleague employee client supplier landlord tenant designer neighbour accountant
            he she
            single married engaged divorced separated widowed
            planned ongoing finished cancelled
            red green blue yellow orange purple pink brown black white grey
            cat dog parrot rabbit hamster
            vegetarian vegan
            north south east west
            once twice
            quarter half third
            """
        )
    )
    for word in group
}

#: Who can do something to another.
PEOPLE = _words(
    """brother sister mother father son daughter husband wife uncle aunt grandmother grandfather nephew niece boss
    colleague employee client supplier landlord tenant designer neighbour accountant friend i"""
)

#: Read as a word of EXCLUSIVE.
ALIASES = {
    "mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday",
    "jan": "january", "feb": "february", "apr": "april", "jun": "june", "jul": "july", "aug": "august",
    "sep": "september", "sept": "september", "oct": "october", "nov": "november", "dec": "december",
    "fall": "autumn", "tonight": "night", "annually": "yearly", "annual": "yearly", "him": "he", "his": "he",
    "her": "she", "hers": "she", "gray": "grey", "done": "finished", "complete": "finished", "completed": "finished",
    "fixed": "finished", "puppy": "dog", "kitten": "cat", "neighbor": "neighbour", "wedding": "married",
}  # fmt: skip

#: Either side of a line is the opposite of the other.
ANTONYMS = [
    (frozenset(left.split()), frozenset(right.split()))
    for left, _, right in (
        line.partition(" - ")
        for line in """
up rose rises increased increase higher gained - down fell falls decreased decrease lower dropped lost
under below maximum most at-most - over above minimum least exceeding
before - after
early earlier - late later
short shorter brief concise - long longer detailed lengthy
big bigger - small smaller
cheap cheaper - expensive
hot warm - cold
formal - casual informal
dark - light
window - aisle
tabs - spaces
always often usually - never rarely seldom sometimes occasionally
started begin began starts - stopped quit ended stop
accepts accepted accept - refuses rejected declined refuse
bought buys buy - sold sells sell
hired - fired
opens open opened - closes closed close
enable enabled enables - disable disabled disables
passed won - failed lost
public - private
manual - automatic
indoor indoors inside - outdoor outdoors outside
left - right
good better best - bad worse worst
spicy - mild
joined joins - left leaves
looking considering planning might plans wants hopes intends thinking - found opened moved sold bought learned got
pregnant - birth
subscribed - cancelled unsubscribed
dating - broke
on - off
""".strip().splitlines()
    )
]

#: Words that a swap of the things around them turns round.
PIVOTS = _words(
    "than over owe better beat outperform help teach manage lend pay tell call support replace follow before after"
)

#: Units, so that "72 kg" and "72 pounds" differ; read as the first of the line.
UNITS = {
    word: group[0]
    for group in _groups(
        """
        second seconds sec secs
        minute minutes min mins
        hour hours hr hrs h
        day days
        week weeks
        month months
        year years yrs
        km kms kilometre kilometres kilometer kilometers
        mile miles mi
        metre metres meter meters
        kg kgs kilo kilos
        pound pounds lb lbs
        gram grams g
        mg milligrams
        percent percentage
        dollar dollars usd bucks
        euro euros eur
        rupee rupees inr rs
        gbp sterling
        am
        pm
        word words
        character characters chars
        page pages
        view views
        like likes
        order orders
        times x
        """
    )
    for word in group
}

CURRENCIES = {"$": "dollar", "€": "euro", "£": "gbp", "₹": "rupee"}

NUMBERS = {
    word: number
    for number, group in enumerate(
        _groups(
            """
            two
            three third
            four fourth
            five fifth
            six sixth
            seven seventh
            eight eighth
            nine ninth
            ten tenth
            eleven eleventh
            twelve twelfth
            thirteen
            fourteen
            fifteen
            sixteen
            seventeen
            eighteen
            nineteen
            twenty
            """
        ),
        start=2,
    )
    for word in group
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}

SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "lakh": 1e5,
    "m": 1e6,
    "million": 1e6,
    "mn": 1e6,
    "crore": 1e7,
    "bn": 1e9,
    "billion": 1e9,
}
