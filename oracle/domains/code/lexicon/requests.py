"""Verbs that a request begins with, by what they ask for, and the courtesies that stand in front of them.

Verbs are in the form of a request (imperative or infinitive), because a verb of writing in another form or place is
not a request to write.
"""

HEADS: dict[str, str] = {
    # Ask for a lasting record whatever the object is.
    "keep": """
        git push, git commit, git tag, git merge, record, log, remember, memorise, memorize, memo, save, jot, archive,
        tell the thread, let the thread know, let the team know, inform the thread, inform the team, announce, notify,
        unarchive, append, tag, untag, file, store, capture, bookmark, pin, unpin, tick, publish, unpublish, commit,
        push, register, link, unlink, note, backlink, restore, undelete, schedule, remind me to, write down, write up,
        jot down, note down, take down, put down, take note, take notes, keep a record, keep note, keep track,
        keep in mind, make a note, make note, take a note, write this, write that, write it, put this, put that,
        put it, put them, put these, put together a note, add this, add that, add it, add these, tidy, cross off,
        check off, label, minute, stash, amend commit, reopen, resolve, upload, star, favourite, merke, merk,
        merk dir, merken, notieren, archivieren, verlinken, hinterlegen, protokollieren, vermerken, notiere, notier,
        speichere, speicher, speichern, protokolliere, archiviere, archivier, trag, trage, eintragen, halte, vermerke,
        vermerk, verlinke, verschlagworte, hinterlege, veroffentliche, note que, noter, enregistre, enregistrer,
        sauvegarde, sauvegarder, archiver, souviens-toi, rappelle-toi, publie, publier, consigne, lie, guarda,
        guardar, anota, anotar, apunta, apuntar, recuerda, recuerda que, registra, registrar, archiva, archivar,
        etiqueta, etiquetar, enlaza, publica, publicar, salva, salvare, annota, annotare, ricorda, ricorda che,
        ricordati, registrare, archivia, archiviare, etichetta, collega, pubblica, pubblicare, segna, salve, salvar,
        guarde, anote, registre, arquive, arquivar, lembre, lembre-se, lembra, publique, onthoud, noteer, noteren,
        bewaar, bewaren, sla op, sla, archiveer, archiveren, leg vast, leg, publiceer, koppel, vastleggen
    """,
    # Ask for a change; of what, the object tells.
    "change": """
        create, add, update, delete, remove, rename, move, put, write, set, mark, change, replace, make, open, start,
        begin, close, merge, split, copy, duplicate, clone, insert, edit, extend, draft, document, undo, revert, redo,
        complete, finish, prepare, clean, clean up, sort, attach, include, post, reply, comment, answer in, drop,
        amend, correct, adjust, reorder, reorganise, reorganize, organise, organize, group, fill, fill in, cancel,
        assign, unassign, reassign, postpone, shift, bring, transfer, import, export, send, erase, purge, trash,
        discard, dump, paste, prepend, enter, new, compose, produce, generate, set up, set down, cross-reference,
        cross-link, describe in, turn, convert, combine, consolidate, wipe, empty, get rid of, strike, expand,
        shorten the, summarise into, summarize into, translate the note, promote, demote, flag, bump, star, lock,
        unlock, share, title, retitle, crate, populate, spin up, release, erstelle, erstell, erstellen, lege, anlegen,
        leg, fuge, fug, hinzufugen, erganze, erganz, erganzen, aktualisiere, aktualisier, aktualisieren, losche,
        losch, loschen, entferne, entfern, entfernen, machen, packen, nehmen, ablegen, festhalten, einfugen,
        vermerken, streichen, umbenennen, verschieben, setzen, benenne, verschiebe, verschieb, schreib, schreibe,
        schreiben, setze, setz, markiere, markier, andere, ander, andern, ersetze, ersetz, kopiere, kopier,
        dupliziere, mach, mache, offne, starte, beginne, schliesse, stelle, bringe, teile, fasse, verfasse, bearbeite,
        hake, nimm, pack, packe, tu, neue, neuer, neues, stell, cree, creer, ajoute, ajouter, ajoutez, mets, mettre,
        met, supprime, supprimer, efface, effacer, renomme, renommer, deplace, deplacer, ecris, ecrire, redige,
        rediger, modifie, modifier, changer, remplace, remplacer, copie, copier, duplique, ouvre, ouvrir, ferme,
        marque, marquer, coche, fais, retire, retirer, enleve, fusionne, restaure, annule, creez, crea, crear, crees,
        anade, anadir, agrega, agregar, actualiza, actualizar, borra, borrar, elimina, eliminar, quita, renombra,
        renombrar, mueve, mover, escribe, escribir, redacta, redactar, cambia, cambiar, pon, poner, reemplaza, copia,
        copiar, duplica, duplicar, abre, abrir, cierra, marca, marcar, haz, inserta, restaura, deshaz, incluye,
        completa, combina, divide, creare, crei, aggiungi, aggiungere, aggiorna, aggiornare, cancella, cancellare,
        eliminare, rimuovi, rimuovere, rinomina, rinominare, sposta, spostare, scrivi, scrivere, modifica, modificare,
        metti, mettere, inserisci, sostituisci, apri, chiudi, contrassegna, fai, prepara, ripristina, annulla, unisci,
        redigi, cria, criar, crie, adiciona, adicionar, adicione, acrescenta, acrescente, atualiza, atualizar,
        atualize, apaga, apagar, apague, exclui, excluir, exclua, remover, remova, renomeia, renomear, renomeie, mova,
        escreve, escrever, escreva, muda, mudar, mude, coloca, colocar, coloque, poe, substitui, fecha, faz, faca,
        insere, desfaz, junte, altere, maak, maken, voeg, toevoegen, werk, bijwerken, verwijder, verwijderen, wis,
        hernoem, hernoemen, verplaats, verplaatsen, schrijf, schrijven, wijzig, wijzigen, verander, zet, zetten,
        vervang, kopieer, dupliceer, sluit, markeer, vink, herstel, plaats, stel
    """,
    # Ask to be shown things, or to have one entered with others.
    "enter": "list, liste, lista",
    # Ask for a change of source code.
    "code_change": """
        refactor, fix, implement, debug, optimise, optimize, speed up, review, code review, port, bump, upgrade,
        migrate, rewrite, extract, inline, patch, profile, mock, unit-test, lint, type-check, simplify, handle, wrap,
        deprecate, harden, instrument, vectorise, vectorize, parallelise, parallelize, decouple, reproduce, bisect,
        monkeypatch, parametrise, parametrize, memoise, memoize, test, build, compile, deploy, rebase, cherry-pick,
        make sure, ensure, prevent, stop the, disable, enable, support, investigate, diagnose, troubleshoot,
        find out why, write a function, write a test, write tests, write unit tests, write a unit test,
        write a script, write a method, write a class, write code, write a query, write a migration,
        write an endpoint, write a regex, add a test, add tests, add unit tests, add a unit test, add type hints,
        add error handling, add validation, add an endpoint, add a method, add a function, add a parameter,
        add logging, add a docstring, add docstrings, replace the call*, make the function, refaktoriere, refaktorier,
        behebe, behebt, repariere, reparier, implementiere, implementier, optimiere, optimier, debugge, uberarbeite,
        corrige, corriger, refactorise, implemente, implementer, debogue, repare, arregla, arreglar, corregir,
        refactoriza, implementa, implementar, optimiza, depura, correggi, correggere, rifattorizza, implementare,
        ottimizza, sistema, ripara, conserta, corrija, corrigir, refatora, refatore, otimiza, otimize, repareer,
        los op, implementeer, optimaliseer, herschrijf
    """,
    "read": """
        open, open the, open my, open our, show, show me, list, find, find me, search, search for, read, read me,
        summarise, summarize, sum up, display, pull up, pull, give, give me, tell, tell me, remind, remind me, get,
        get me, fetch, look at, look in, look into, look through, look for, retrieve, collect, count, check, quote,
        recap, dig, dig up, locate, print, open up, bring up, go through, scan, skim, gather, enumerate, point me,
        cite, view, see, browse, dump, extract from, compile a list, give an overview, brief me, catch me up, filter,
        fass, zeig, zeige, zeig mir, finde, such, suche, liste, lies, fasse, gib, gib mir, nenne, nenn, sag, sag mir,
        montre, montre-moi, montrez, affiche, trouve, trouver, cherche, chercher, lister, lis, resume, resumer, donne,
        donne-moi, dis-moi, muestra, muestrame, ensename, ensena, encuentra, encontrar, busca, buscar, lista, listar,
        lee, leer, resumir, dame, dime, mostra, mostrami, trova, trovami, cerca, cercare, elenca, leggi, riassumi,
        dammi, dimmi, mostre, mostra-me, mostre-me, encontra, encontre, procura, procure, busque, leia, resuma,
        name the, me diga, me mostre, toon, laat, laat zien, vind, zoek, lijst, lees, vat, geef, vertel
    """,
    "explain": """
        explain, explain to me, walk, walk me through, describe, trace, outline, analyse, analyze, clarify how,
        illustrate, break down, take me through, talk me through, help me understand, erklar, erklare, erlautere,
        beschreib, beschreibe, explique, explique-moi, expliquer, decris, explica, explicame, explicar, spiega,
        spiegami, spiegare, descrivi, descreva, explique-me, leg uit, verklaar, beschrijf
    """,
    "web": """
        google, research, compare, recommend, suggest, look up, search the web, search online, search the internet,
        check online, find online, browse the web, web search, read up on, recherchiere, google mal, vergleiche,
        recherche sur, busca en internet, compara, confronta, cerca su internet, pesquise, pesquisa, zoek op,
        vergelijk
    """,
    "talk": """
        make it shorter, make that shorter, say that, format, repeat, rephrase, reword, shorten, continue, stop,
        elaborate, translate, simplify it, simplify that, expand, explain that, explain it, say, try again, proceed,
        go on, wait, forget, wiederhole, repete, repite, ripeti, herhaal, reformule, traduis, traduce, traduci,
        ubersetze, vertaal
    """,
}

COURTESY: str = """
        please, pls, plz, kindly, can you, can u, could you, could u, cld you, would you, will you, can you please,
        could you please, would you please, would you mind, do you mind, may i ask you to, i want you to,
        i need you to, i'd like you to, i would like you to, i want to, i'd like to, i would like to, i need to,
        we need to, we have to, you should, you need to, you can, you could, you may, would it be possible to,
        is it possible for you to, would you be able to, are you able to, can we, could we, can i, could i, may i,
        let's, lets, let us, help me, help me to, go ahead and, go and, now, then, also, and, and then, so, just,
        quickly, next, first, finally, ok, okay, alright, right, well, great, cool, perfect, nice, hey, hi, hello, yo,
        oracle, hey oracle, hi oracle, dear oracle, yes, yeah, yep, yup, sure, no, thanks, thank you, thx, sorry, oh,
        ah, hmm, hm, um, btw, by the way, one more thing, another thing, another question, quick question, quick one,
        question, real quick, fyi, actually, in addition, additionally, furthermore, while you're at it,
        when you have time, if you can, if possible, i was wondering if you could, i wonder if you could,
        i was hoping you could, it would be great if you could, it would be nice if you could, be so kind and,
        make sure to, don't forget to, do not forget to, don't forget, do not forget, don't forget that, remember to,
        try to, feel free to, your task is to, do me a favour and, good morning, good evening, good afternoon,
        once you have that, once done, after that, afterwards, for me, again, bitte, kannst du, konntest du,
        kannst du bitte, konntest du bitte, konnen sie, konnten sie, wurdest du, ich mochte, ich will, ich wurde gern,
        ich hatte gern, lass uns, lasst uns, und, dann, jetzt, mal, ja, danke, hallo, peux-tu, tu peux, pourrais-tu,
        pouvez-vous, pourriez-vous, est-ce que tu peux, s'il te plait, s'il vous plait, stp, svp, je veux,
        je voudrais, j'aimerais, et, puis, maintenant, oui, merci, bonjour, salut, puedes, podrias, puede, podria,
        por favor, quiero, quisiera, me gustaria, y, luego, ahora, si, gracias, hola, vamos a, puoi, potresti, puo,
        potrebbe, per favore, per piacere, vorrei, voglio, e, poi, ora, adesso, grazie, ciao, voce pode, pode,
        poderia, voce poderia, quero, queria, gostaria de, agora, depois, sim, obrigado, ola, oi, kun je, kan je,
        kunt u, zou je, wil je, alsjeblieft, alstublieft, graag, ik wil, ik zou graag, en, dan, nu, bedankt, hoi,
        eens, even
    """

QUESTION_WORDS: dict[str, str] = {
    "why": "why, how come, what caused, what causes, what is causing, what's causing, whats causing, for what re"
    "ason, y, warum, wieso, weshalb, pourquoi, por que, perche, como es que, waarom",
    "how": "how, wie, comment, como, come, hoe",
    "where": "where, whereabouts, in which file, which file, what file, in what file, wo, woher, ou, ou est, donde"
    ", dove, onde, waar, in welcher datei, in welcher, dans quel fichier, en que archivo, in quale file, "
    "em que arquivo, em qual arquivo, in welk bestand",
    "who": "who, whom, wer, wem, qui, quien, quienes, chi, quem, wie heeft, wie is, wie had, wie was",
    "when": "when, since when, wann, quand, cuando, quando, wanneer",
    "what": "name every, name each, name all, what, which, wich, wht, wat, was, welche, welcher, welches, welchen, "
    "que, quel, quelle, quels, quelles, qu'est-ce, quoi, cual, cuales, cosa, che, quale, quali, qual, quais, o que, "
    "welk, welke",
    "yesno": "is, are, was, were, does, do, did, has, have, had, can, could, should, would, will, isn't, aren't, d"
    "oesn't, don't, didn't, hasn't, haven't, any, anything, ist, sind, hat, haben, gibt, gibt es, kann, e"
    "st-ce que, y a-t-il, existe-t-il, existe, hay, c'e, ci sono, esiste, ha, tem, existem, is er, zijn e"
    "r, heeft, kan, anyone, anybody, has anyone, did anyone",
}
