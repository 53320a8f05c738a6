"""Turns of phrase in which an agent says how its work stands, and how strongly each speaks for a signal.

Patterns look at one folded sentence at a time (lower case, no diacritics, "n't" written out) and are linear. Weights: 3 settles it
alone, 2 nearly, 1 only supports others.
"""

import re
from typing import Literal

SignalType = Literal[
    "need_turn", "context_sufficient", "stuck", "need_capability", "partial_answer", "delegation_recommended"
]

_OTHERS = (
    r"(?:sub-?agents?|specialists?|experts?|lawyers?|counsel|attorneys?|dbas?|teams?|departments?|reviewers?|auditors?|accountants?|doctors?|engineers?|developers?|maintainers?|owners?|administrators?|admins?|humans?|persons?|people|someone|somebody|colleagues?"
    r"|architects?|advis[eo]rs?|tax \w+|notar(?:y|ies)|physicians?|managers?|committees?|vendors?|providers?|experts?|authorit(?:y|ies)|security officer|officers?|board|leads?|founders?|authors?|batch worker|architects?|analysts?|researchers?|professionals?|consultants?|operators?|(?:\w+ )?agents?|(?:larger|bigger|stronger|more capable|more powerful|reasoning|dedicated) (?:model|agent|llm)|support|helpdesk|planner|workers?|fachleute|experten?|anwalt|kolleg\w*|equipe|juriste|equipo|abogado|squadra|avvocato|equipe|advogado)"
)
_ABILITY = (
    r"(?:access|permissions?|rights?|privileges?|credentials?|password|api key|token|keys?|tools?|integration|connector|plugin|sandbox|shell|terminal|role|scope|licen[cs]e|login|account|browser|internet|network access|vision|ocr|write access|read access|vpn"
    r"|zugriff|zugang|berechtigung|rechte|werkzeug|acces|droits?|autorisation|outil|acceso|permisos?|herramienta|accesso|permess[oi]|strumento|acesso|permissao|ferramenta|toegang|rechten)"
)

_TABLE: dict[SignalType, tuple[tuple[float, str], ...]] = {
    "delegation_recommended": (
        (3, rf"\b(?:hand|pass|forward|refer|rout|escalat|assign|transfer|leav|give|giving|hand|bring|send)(?:e|ed|es|ing|ting)?\b.{{0,60}}\b(?:to|over|on|off|up)\b.{{0,40}}\b{_OTHERS}\b"),
        (3, rf"\b(?:better|best) (?:be )?(?:done|suited|handled|answered|placed|left|served|fit|equipped|judged|decided|reviewed|qualified|off)\b.{{0,60}}\b(?:by|to|with|from)\b"),
        (3, rf"\b(?:should|could|must|ought to|needs? to|has to|would) be (?:\w+ )?(?:judged|reviewed|handled|answered|decided|checked|taken over|done|assessed|approved|settled|looked at|signed off|made) by\b"),
        (3, rf"\b{_OTHERS}\b.{{0,60}}\b(?:should|could|would|can|must|ought to) (?:\w+ )?(?:take|handle|review|decide|judge|look|answer|own|do|tackle|assess|pick)\b"),
        (3, rf"\b(?:is|are|seems|looks like|sounds like) (?:really |rather |clearly |more )?(?:a |an |the )?(?:job|task|matter|question|work|case|one|decision) (?:for|of) (?:a |an |the |your |our )?(?:\w+ )?{_OTHERS}\b"),
        (3, rf"\b(?:recommend|suggest|propose|advise|advisable|prefer|wise)\b.{{0,60}}\b(?:delegat|escalat|hand|pass|involv|consult|bring|ask|forward|assign|split)\w*"),
        (3, rf"\b(?:recommend|suggest|propose)\b.{{0,20}}\b{_OTHERS}\b.{{0,40}}\b(?:review|handle|take|decide|look|check|do)"),
        (3, r"\b(?:i'd|i would|i'll|let us|please|best to|better to|we should|you should|you may want to|would) (?:\w+ )?(?:delegate|escalate|hand (?:it|this|that|them|the)|pass (?:it|this|that|the)|forward|refer|leave (?:it|this|that) (?:to|with)|involve|consult|loop in|bring in)\b"),
        (2.5, r"^(?:please |you should |you could |you may want to |best |so |for that |i'd |i would |better )*(?:ask|consult|contact|involve|talk to|speak to|speak with|check with|reach out to|turn to|get in touch with|loop in) (?!me\b|again\b|for\b|yourself\b|if\b)"),
        (2.5, rf"\b(?:ask|consult|contact|involve|bring in|talk to|reach out to|turn to|loop in) (?:a|an|the|your|our|one of) (?:\w+ ){{0,3}}{_OTHERS}\b"),
        (2.5, rf"\b(?:needs?|requires?|calls for|deserves|warrants|wants) (?:a|an|the|some) (?:\w+ ){{0,3}}{_OTHERS}\b"),
        (2, r"\b(?:not by me|than (?:i|me) (?:can|could|am)|beyond what i (?:should|can|could|am)|exceeds what i|not (?:mine|for me) to|too (?:big|large|much) for (?:me|one|a single)|outside (?:of )?my (?:expertise|remit|competence)|not qualified|more capable|one worker per|coordinated by|a better fit|better fit for)\b"),
        (3, r"\btak(?:e|es|ing|en) (?:\w+ ){0,3}over\b|\b(?:delegat(?:e|ing)|escalat(?:e|ing))\b(?! to a helper)|\bzustandigkeit\b|\bubernehmen\b|\bubergeben\b|\bweitergeben\b|\bconfier\b|\btransmettre\b|\bdelegar\b|\bdelegare\b|\buberlassen\b|\boverdragen\b|\boverlaten\b"),
        (3, rf"\b(?:get|have|let|ask|want|see|consult|call|hire|find|engage|start|spawn|launch|use) (?:a|an|the|your|our|another|some|one of the) (?:\w+ ){{0,2}}{_OTHERS}\b(?: (?:to|for|look|check|review|decide|do|handle|before|who|with|first|about)\b|$|[.,])"),
        (3, rf"\b{_OTHERS}\b.{{0,40}}\b(?:has to|have to|must|needs? to|is the one|are the ones|is in a|are in a|knows?|is better|are better|can (?:best|decide)|would be better|is best|are best|would do|will do)\b"),
        (2.5, r"\b(?:better|best) (?:position|placed|equipped|qualified|suited)\b|\blet (?:them|her|him|the \w+) (?:decide|do|handle|take|answer|judge)\b|\b(?:not|never) (?:my|something i should|a decision for me|one for me|mine)\b.{0,30}\b(?:call|decide|decision|make|judge)\b|\bonly \w+ can (?:decide|answer|tell|approve)\b|\bin (?:the )?hands of\b"),
        (1, rf"\b{_OTHERS}\b"),
    ),
    "need_capability": (
        (3, rf"\b(?:do not|does not|did not|don't|cannot|can not|no|lack|lacks|lacking|without|missing|have not|not been|never been|need|needs|needed|require|requires|required|would need|grant|granted|give|given|provide|provided|add|enable|obtain|brauche|brauchte|fehlt|fehlen|kein|keine|keinen|pas|sans|besoin|sin|necesito|necesitaria|no tengo|senza|mi serve|non ho|sem|preciso|nao tenho|geen|nodig)\b(?! (?:further|more|other|longer) ).{{0,50}}\b{_ABILITY}\b"),
        (2.5, rf"\b{_ABILITY}\b.{{0,50}}\b(?:would (?:be (?:required|needed|necessary)|help|solve|unblock|let|allow)|is (?:required|needed|necessary|missing|not enabled|disabled|denied|refused|read-only)|are (?:required|needed|missing|not enabled|disabled)|habe ich nicht|fehlt|haven't been|hasn't been)\b"),
        (2.5, r"\b(?:is|are|was|has) (?:not (?:been )?(?:enabled|activated|installed|configured|connected|available to me|provided|switched on)|disabled|turned off|switched off|unavailable (?:to me|here|in this))\b"),
        (2, r"\bi (?:cannot|can not|could not|am (?:not able|unable) to|am not allowed to|may not) (?:directly |actually |myself )?(?:run|execute|open|view|send|access|browse|see|hear|play|write to|modify|edit|log in|connect|query|deploy|render|download|upload|install|call|compile|print|read (?:images?|pdfs?|the (?:image|screenshot|file|diagram|attachment)|it|encrypted)|search the web|reach)\b"),
        (2, r"\b(?:read-only|behind a (?:login|paywall|firewall)|no integration|encrypted|password protected|password-protected|not authori[sz]ed|unauthori[sz]ed|access denied|permission denied|forbidden|refused because|lack (?:a|an|the)|out of my reach)\b"),
        (2, r"\b(?:if you (?:\w+ )?(?:give|grant|enable|connect|add|provide|install|share|allow|could give)|please (?:give|grant|enable|connect|add|provide|install|share|allow|attach|paste)|someone has to (?:grant|give|enable)|once (?:i have|that is|it is|this is) (?:access|enabled|granted|connected)|or paste)\b"),
        (2.5, r"\b(?:is|are|was) (?:not|im)\s?possible (?:from (?:here|this)|for me|in this|with (?:my|the) (?:tools?|current))|\bnone of my tools\b|\bmy (?:tools?|role|token|account|permissions?|rights|access|environment|sandbox|session)\b.{0,40}\b(?:not|no|only|limited|lacks?|does|cannot|restricted|read)\b|\b(?:not allowed|not permitted|not authori[sz]ed|blocked|forbidden|denied) (?:for|to) (?:my|me)\b|\b(?:beyond|outside) (?:of )?my (?:tools|permissions|access|sandbox|reach|rights)\b|\bmissing (?:a|the) (?:way|means|tool)\b|\b(?:there is|there's|i have|with) no \w+ (?:connection|access|client|tool|integration|api|permission)\b|\bi (?:have|have got|got) no \w+(?: \w+)?, (?:so|therefore|which)\b|\bnot (?:reachable|accessible) (?:from|to|for)\b|\b(?:would|has to|have to|must|needs to) (?:have to )?(?:grant|change that|enable|unlock|whitelist|allow (?:it|that|me))\b"),
        (2, r"\bi (?:would|'d) need (?!to (?:look|check|read|see|search))\w+|\bi'd need\b|\bonly (?:valid|works) for\b|\bwould have to be (?:enabled|installed|connected|transcribed|converted|granted|unlocked|decrypted|made available)\b"),
        (1.5, r"\bwith (?:a|an|that|this|such a|the right) (?:\w+ ){0,3}(?:i|it) (?:could|can|would|might)\b|\b(?:would|could) unblock\b|\bisn't something i(?:'m| am) able\b|\bi have no (?:way|means) (?:to|of)\b"),
    ),
    "stuck": (
        (3, r"\b(?:out of ideas|run out of|ran out of|at a loss|going (?:a?round )?in circles|(?:a?round|in) circles|dead ends?|no idea (?:how|what|where|left)|hit a wall|at an impasse|stuck|at my wits|no further ideas|nothing left to try|exhausted|weiss nicht weiter|nicht weiter|komme hier|ratlos|im kreis|ne sais plus|tourne en rond|bloque|no se como|atascado|sin ideas|non so piu|bloccato|nao sei mais|travado|loop vast|kom niet verder)\b"),
        (3, r"\b(?:do not|don't) (?:know|see) (?:where|how|what|any|another|which)\b(?!.{0,30}\b(?:whether|if)\b).{0,40}\b(?:else|proceed|to try|to go|to do|further|continue|look|angle|way|next|more|left|from here|anywhere)\b|\bnot (?:getting|making|got) any(?:where| further)\b|\bno (?:other|further) (?:angle|way|option|idea|lead|approach)\b|\bi (?:do not|don't) see (?:a|any|another) (?:way|angle|path|option)\b"),
        (3, r"\b(?:unable|not able|failed|impossible) to (?:make (?:any )?progress|proceed|get (?:any )?further|continue|resolve|move forward|go on|reconcile|get past)\b|\b(?:cannot|can not|could not|can't) (?:proceed|get (?:any )?further|make progress|resolve|make sense|reconcile|get past|move forward|explain it|explain this|go on|continue|break out)\b"),
        (2.5, r"\b(?:keep|keeps|kept) (?:on )?(?:failing|getting|coming|returning|ending|running|hitting|timing|landing|circling|bringing|finding|throwing|being)\b|\b(?:fails?|failed|failing|times? out|timed out|errors?) (?:every|each|all the) (?:single )?time\b|\b(?:fails?|failing) the same way\b|\bsame (?:\w+ )?(?:error|result|two|pages|files?|failure|function|answer|three|place|message)s?\b"),
        (2.5, r"\b(?:every|each|all|any|none of the|neither) (?:\w+ ){0,3}(?:search(?:es)?|attempts?|quer(?:y|ies)|calls?|tr(?:y|ies)|variants?|approach(?:es)?|reads?|requests?|tools?|paths?|angles?)\b.{0,60}\b(?:empty|fail\w*|times? out|timed out|nothing|error\w*|returned|refused|no(?:thing)?|blank|same|in vain|hit)\b"),
        (2, r"\b(?:despite|after|even after) (?:\w+ ){0,2}(?:several|many|repeated|multiple|numerous|all|three|four|five|six|ten|\d+|these) (?:\w+ )?(?:attempts?|tries|searches|retries|queries|calls|rounds)\b|\b(?:third|fourth|fifth|tenth|umpteenth) (?:time|attempt|try)\b|\bwithout (?:any )?(?:progress|success|luck|a hit|avail|result|learning anything)\b|\bno matter (?:what|which|how)\b|\bwhatever i (?:try|change|do)\b|\bnothing i (?:tried|try|looked)\b|\bnothing (?:works|worked|helps|helped|explains)\b|\bto no avail\b"),
        (3, r"\b(?:leads?|leading|get|gets|getting|goes|going|go) (?:me )?nowhere\b|\bused up (?:all|every|my)\b|\bover and over\b|\bgive up\b|\bgiving up\b|\bno way (?:forward|out|around)\b|\bmystery to me\b|\b(?:can ?not|cannot) (?:tell|explain|understand|see) (?:where|why|how) (?:the|it|this|that)\b.{0,40}|\b(?:back|am) (?:where i started|at square one|at the start)\b|\bopposite stories\b"),
        (2.5, r"\b(?:zero|no) (?:hits|matches|results)\b|\b(?:rejects?|refuses?|rejected|refused|ignores) (?:every|each|all|any)\b|\b(?:three|four|five|six|seven|eight|nine|ten|twelve|\d+) (?:\w+ )?(?:attempts|tries|identical|timeouts|errors|failures|retries)\b|\bneither\b.{0,60}\bnor\b.{0,60}\b(?:contain|help|explain|say|mention|answer|tell|give|bring)\w*|\bidentical (?:errors?|timeouts?|results?|failures?)\b"),
        (1.5, r"\b(?:tried|searched|repeated|attempted|looked)\b.{0,60}\b(?:two|three|four|five|six|seven|several|different|various|many|multiple|again|times|ways|synonyms|variants|everything|everywhere|also|by tag|name)\b|\bno results?\b|\bcame back empty\b|\bnot found\b|\bcontradict\w*|\bneither\b|\bfindet nichts\b|\bwaren leer\b|\bi (?:cannot|can not|could not) find any trace\b|\bseems? to be broken\b|\bnone of them (?:returns?|worked|helped|has|gives?)\b"),
    ),
    "partial_answer": (
        (3, r"\b(?:could not|cannot|can not|was (?:not able|unable) to|am (?:not able|unable) to|have not been able to|did not manage to|not able to|konnte ich nicht|konnte nicht|n'ai pas pu|no pude|no he podido|non ho potuto|non sono riuscit\w|nao consegui|kon ik niet) (?:\w+ ){0,2}(?:confirm|verify|determine|find|say|tell|check|clarify|establish|answer|identify|locate|work out|figure out|see|trace|settle|klaren|finden|bestatigen|prufen|feststellen|ermitteln|confirmer|trouver|verifier|confirmar|encontrar|verificar|confermare|trovare|bevestigen|vinden)\b"),
        (2.5, r"\b(?:i|we) (?:could|can)(?: ?not|'t) (?:\w+ )?(?:confirm|verify|determine|say|tell|establish|find out|clarify)\b|\bi (?:could not|couldn't) (?:determine|find|see)\b|\bnicht (?:klaren|finden|bestatigen|feststellen|ermitteln)\b"),
        (2.5, r"\b(?:remains?|stays?|still|is|are|was|were) (?:still |as yet |however |not entirely |somewhat |less |not )?(?:unclear|unknown|open|missing|uncertain|unverified|unconfirmed|undetermined|unanswered|outstanding|lacking|absent|incomplete|clear to me|sure|certain|unklar|offen)\b"),
        (2.5, r"\b(?:is|are|was|were|has|have) (?:not|never|nowhere) (?:been )?(?:recorded|documented|mentioned|public|listed|published|stated|covered|specified|noted|written|given|disclosed|stored|logged|known)\b|\bisn't (?:recorded|documented|mentioned|public|listed)\b|\bnothing (?:is |was )?(?:recorded|in the notes|documented|written|about|on)\b|\bthere is nothing\b|\bdoes not (?:mention|say|cover|reach|state|record|show|list|tell)\b|\bno (?:reliable )?(?:information|data|figures|details|record|mention|entry|numbers)\b"),
        (2.5, r"\b(?:only (?:in )?part(?:ly|ially)?|part(?:ly|ial|ially)|in part|roughly half|half of (?:your|the|it)|(?:one|two|three|four|five|some|most|several|\d+) (?:out )?of (?:your|the|these|those) (?:two|three|four|five|six|seven|eight|nine|ten|\d+|questions|parts)|the part (?:i am|i'm|that)|first half|incomplete|teilweise|nur zum teil|en partie|partiellement|parcialmente|in parte|em parte|gedeeltelijk)\b"),
        (2, r"\b(?:what i (?:do not|don't) (?:have|know)|what is missing|what's missing|i (?:do not|don't) (?:have|know) (?!a tool|access|permission|how|where|what to)|i have no (?:reliable|information|data|figures|details|numbers)|as for|for the rest|on the other hand|the rest)\b"),
        (1.5, r"\b(?:most likely|probably|presumably|may be outdated|might be|may not|with care|caveat|assum\w+|not (?:entirely )?(?:sure|certain)|unsure|take (?:this|that|it|the)|tentative|provisional|as far as i can (?:tell|see)|vermutlich|wahrscheinlich|probablement|probablemente|probabilmente|provavelmente|waarschijnlijk)\b"),
        (2.5, r"\b(?:no|not any|without) (?:proof|evidence|confirmation|source)\b|\bnot (?:\w+ )?clear\b|\bnot given\b|\bi found no(?:thing| )|\bfound no (?:data|source|figures|information|mention|record|trace of the)\b|\bno (?:source|data|figure|numbers?) (?:for|on|about)\b|\bcannot vouch\b|\bat least (?:the|one|part)\b|\bi do not know (?:whether|if|when|who|why|which)\b|\ba guess\b|\bguesswork\b|\bunproven\b|\bnot (?:in|part of) (?:the|any|what)\b"),
        (1, r"^(?:whether|how|who|when|why|where|which|ob|si) .{0,100}\b(?:not|unclear|unknown|open|offen|nicht)\b|\b(?:though|although|however|but)\b.{0,60}\bnot\b"),
    ),
    "need_turn": (
        (2.5, r"(?<!and )\b(?:let me|let us|let's)(?: just| first| quickly| now| also| see)? (?!know\b|only\b)\w+"),
        (2.5, r"\b(?:i'll|i will|i am going to|i'm going to|i am about to|i shall|we will|we'll) (?:now |next |then |first |also |just |start |quickly |continue |have to |need to )*(?!be happy|gladly|wait|be glad|be able|need (?:access|permission)|not)\w+"),
        (2.5, r"\bi (?:want|need|have|would like|still need|still have|also need|'d like|plan|intend|should)(?: still| also| now| first)? to (?:\w+ )?(?:look|check|read|search|see|compare|verify|go through|inspect|open|trace|find|examine|confirm|review|understand|collect|fetch|test|run|list|dig|cross-check|narrow)\b(?!.{0,60}\b(?:access|permission|isn't|is not enabled)\b)|\bi should (?:look|check|read|search|see|compare|verify)\b"),
        (2.5, r"\b(?:one moment|give me a (?:moment|second|minute)|hang on|hold on|bear with me|stand by|einen moment|un moment|un momento|um momento|een moment|working on it|in progress|to be continued)\b"),
        (2.5, r"^(?:now |next |currently |still )?(?!running \w+ \w+ (?:is|was)|\w+ing (?:\w+ ){0,4}(?:is|are|was|were|would|requires|needs|takes|means)\b)(?:searching|reading|checking|looking|opening|scanning|fetching|loading|comparing|running|verifying|continuing|querying|analysing|analyzing|moving on|proceeding|doing that|going through|digging)\b"),
        (2, r"\b(?:next(?: step|up|,| i| the)?|as a next step|one more step|the next thing|afterwards|after that|then i (?:can|will|'ll)|before i (?:answer|can|say|draw|conclude|go)|before (?:answering|drawing|concluding)|doing that (?:next|now)|als nachstes|nachster schritt|ensuite je|prochaine etape|je vais|a continuacion|voy a|ahora voy|prossimo passo|ora (?:leggo|cerco|controllo)|vado a|proximo passo|vou|vervolgens|ik ga|nu ga ik|ich werde|schaue ich|lese ich|prufe ich|suche ich)\b"),
        (2.5, r"\bi(?:'m| am) (?:now |currently |still |just |next )?(?!missing\b|getting\b|running out|being\b|lacking\b|failing\b|hitting\b|assuming\b|missing|giving\b|seeing\b|coming\b|going (?:a?round|in|nowhere)|facing\b|turning\b|having\b|asking\b|guessing\b|recommending\b)[a-z]{3,}ing\b|\b(?:and|then|but|so) (?:i )?will (?:now|next|then|first)\b|\bwill now\b|\bi(?:'m| am) (?:off to|onto|on to)\b"),
        (1, r"\b(?:so far|first pass|for now|interim|preliminary|initial|i (?:still|only) know|remaining|not yet|still (?:have|need|to)|bisher|zunachst|jusqu'ici|hasta ahora|finora|ate agora|tot nu toe)\b"),
    ),
    "context_sufficient": (
        (2.5, r"\b(?:everything i need|all (?:the information )?i need|enough (?:information|context|to answer)|have what i need|sufficient (?:context|information)|fully answers?|that answers)\b"),
        (2, r"^(?:done|finished|completed|ready|all set|fixed|saved|created|in short|in summary|to sum up|summary|conclusion|so yes|so no|yes|no|you're welcome|you are welcome|my pleasure|glad|erledigt|fertig|gern geschehen|de rien|c'est fait|listo|hecho|de nada|fatto|prego|feito|pronto|klaar|graag gedaan)\b"),
        (2, r"\b(?:has|have) been (?:\w+ )?(?:created|added|moved|updated|deleted|saved|renamed|linked|tagged|archived|fixed|removed|changed|recorded|published|committed|pushed)\b|\bi(?:'ve| have) (?:now |just )?(?:created|added|moved|updated|deleted|saved|renamed|linked|tagged|archived|fixed|removed|changed|recorded|published|committed|pushed|written)\b|\b(?:all|both) (?:\d+ )?(?:tests|checks|options|questions) (?:pass|are|were)\b"),
        (0.7, r"\b(?:is|are|was|were|lies?|means|returns?|happens|takes|uses|lives|decided|chose|chosen|checked|called|set|raises|costs)\b"),
    ),
}

CUES: dict[SignalType, tuple[tuple[float, re.Pattern[str]], ...]] = {
    signal: tuple((weight, re.compile(pattern)) for weight, pattern in rows) for signal, rows in _TABLE.items()
}
COURTESY = re.compile(
    r"\b(?:let me know|happy to|glad to|feel free|if you(?:'d| would)? (?:like|want|need|prefer)|shall i|should i|do you want me|would you like|hope (?:this|that) helps|anything else|any (?:other|further) questions|just (?:say|ask)|tell me if)\b"
)
"""Offers to the user; they say nothing about the state of the work."""
WORKAROUND = re.compile(
    r"\b(?:so i (?:used|took|tried|went|switched|fell)|instead|but the (?:second|next|other|cached|third|retry)|worked|succeeded|went through|after a retry|on the second (?:try|attempt)|got round|got around|worked around|fell back|nevertheless|anyway)\b"
)
"""A failure that was got round is a passing remark."""
