"""Words about the project itself: its source code, its notes, its people and agreements.

Entries are separated by commas, in lower case, without diacritics; a trailing `*` stands for any ending. A phrase wins
over its words: "thread pool" is no thread of the vault. English first, then German, French, Spanish, Italian,
Portuguese, Dutch, and the commonest words of Chinese, Japanese, Korean, Russian, Polish, Swedish. Chinese, Japanese and
Korean words are found inside longer runs of characters, because these are written without spaces.
"""

WORDS: dict[str, str] = {
    # Parts of source code: who asks about one wants the code searched.
    "code_noun": """
        helper, helpers, util*, nullable, string, float, dict, loop, nested loop*, index out of range, the build,
        on ci, internally, under the hood, sanitis*, escape*, at startup, callbacks, function, method, methods, class,
        file, files, pin, pinned, module, modules, code, code path*, repository, repositories, unit test*,
        integration test*, tests, test, fixture*, endpoint*, routes, handler*, middleware*, decorator*, regex, sql,
        type annotation*, return type*, signature, parameter*, argument*, default value*, variable, env var*,
        environment variable*, config, configured, feature flag*, flag, hard coded, callback*, generator*, async,
        await, callers, caller, usages, imports, unused import*, dead code, ci job*, docker image, exceptions,
        error handling, error message*, log level*, logger*, off-by-one, race, thread pool*, heartbeat thread,
        connection pool*, page size, nightly job*, nightly import*, cache entr*, cache invalidation, http client,
        webhook*, component, props, css, state machine*, reducer*, entry point*, driver, firmware, database table*,
        schema, column, row, rows, migrations, transaction*, implementation*, implement, hash*, encrypt*, serialis*,
        parses, parsing, called from, thrown, catch, swallow*, validates, validate, queue, retries, retried,
        retry count, timeout, backoff, rate limiter, pr, diff, merge conflict*, todo comment*, docstring*, script, cli,
        klasse, modul, unit-test*, datei, fonction, classe, definie, funcion, clase, archivo, repositorio, se define,
        inizializzat*, 代码, 源码, 函数, 文件里, 文件中, 哪个文件, 类, 接口, 模块, 中间件, 测试用例, 变量, 报错, 实现,
        算法, 脚本, 调用, コード, ソース, 関数, メソッド, クラス, ファイル, モジュール, ミドルウェア, 変数, 実装,
        登録されて, 呼び出, エラー, テスト, 코드, 함수, 클래스, 파일, 모듈, код*, функци*, класс, модул*, файл*, тест*,
        метод*, kod, kodzie, kodu, funkcja, funkcje, funkcji, klasa, klasy, plik, pliku, pliki, metoda, testy, koden,
        funktionen, klassen, filen, metoden
    """,
    # What a command can delete, rename or move without a look at the source code.
    "file": """
        file, files, config file, config files, log file, log files, lock file, lockfile, branch, branches, folder,
        folders, directory, directories, export, image, images, report, datei, dateien, ordner, konfigurationsdatei,
        zweig, fichier, fichiers, dossier, branche, archivo, archivos, carpeta, rama, cartella, ramo, arquivo,
        arquivos, pasta, bestand, bestanden, map
    """,
    # Parts of running software: after "the" they mean ours.
    "component": """
        scheduler*, importer*, exporter*, parser*, worker, workers, renderer*, indexer*, loader*, uploader*,
        downloader*, mailer*, crawler*, scraper*, tokenizer*, tokeniser*, dispatcher*, listener*, consumer*, producer*,
        publisher, subscriber*, watcher*, poller*, resolver*, validator*, formatter*, converter*, builder, router*,
        balancer, rate limiter, limiter*, throttler, balancer*, gateway*, proxy, adapter*, adaptor*, backend, frontend,
        server, daemon*, client, api, service, microservice*, job, jobs, cron, cache, caches, event bus, bus, pipeline,
        engine*, runtime, executor*, runner*, launcher*, installer*, updater*, detector*, classifier*, recommender*,
        matcher*, scorer, ranker, ranking, search index, index, search, autocomplete, sync, syncing, synchronis*,
        synchroniz*, replication, login, log-in, signup, sign-up, logout, auth, authentication, authoris*, authoriz*,
        permission check*, checkout, cart, basket, checkout flow, login form, form, forms, button, dropdown, modal,
        dialog, tooltip, sidebar, side bar, navbar, header, footer, toolbar, screen, view, widget*, dashboard,
        homepage, profile screen, avatar*, thumbnail*, thumbnailer, attachment*, upload*, download*, import, export,
        exports, nightly import, notification*, heartbeat, watchdog, metrics, telemetry, tracing, app, application,
        program, tool, plugin, plugins, extension, bot, sdk, websocket*, socket, sockets, connection, connections,
        middleware, editor, canvas, player, chart, charts, grid, layout, dark mode, offline mode, clipboard, hotkey*,
        ui, gui, sensor*, controller*, simulator*, emulator*, solver*, planner*, tracker*, monitor*, aggregator*,
        collector*, sampler*, buffer*, codec*, encoder*, decoder*, serializer*, ingest*, etl, feed, mapper*, planer,
        dienst, anmeldung, hintergrunddienst, zwischenspeicher, warteschlange, oberflache, schaltflache, formular,
        bouton, formulaire, planificateur, programador, cola, formulario, boton, servidor, coda, pulsante, fila,
        servico, wachtrij, formulier, knop
    """,
    # What software does when it misbehaves.
    "symptom": """
        fail, fails, failed, crash*, hangs, freez*, stuck, broken, flaky, panic, don't load, wrong, duplicate row*,
        twice, returns null, a 500, timed out, slow, so slow, slower, spike*, out of memory, heap, explod*, reboot*,
        lost, drops, orphan*, spins forever, undefined, sturzt, fehler, plante, falla, error, colgado, si blocca
    """,
    # Notes and other things that live in a vault: they are read, and they are written.
    "vault_noun": """
        note, notes, vault, wiki, page, pages, subpage*, vault page, adr, adrs, adr-*, decision log*, decisions log,
        document, documents, doc, docs, design doc*, documentation, runbook*, playbook*, handbook*, glossary,
        glossaries, thread, threads, journal, diary, daily note, logbook, changelog, onboarding guide, onboarding page,
        style guide, minutes, transcript*, agenda, agendas, postmortem*, post-mortem*, incident report*, incident log,
        report, one-pager*, memo, memos, write-up, writeup, brief, charter, proposal, proposals, rfcs, spec, specs,
        specification, prd, acceptance criteria, stories, checklist*, todo list, todo, todos, to-dos, shopping list,
        list of, backlog, inbox, archive, folder, folders, subfolder*, tag, tags, tagged, backlink*, wikilink*,
        frontmatter, bookmark*, snippets note, entry, entries, task, tasks, action item*, action items, reminder,
        reminders, risk register, open question*, section, heading, paragraph, bullet point*, draft, drafts, template,
        templates, contact list, recipe*, card, board, record, records, register, moc, scratchpad, notebook*,
        threat model, notiz, notizen, notizbuch, tagebuch, tagesnotiz, seite, seiten, dokument, dokumente,
        dokumentation, doku, protokoll, protokolle, besprechungsnotiz*, ordner, archiv, aufgabe, aufgaben,
        aufgabenliste, eintrag, eintrage, entwurf, entwurfe, vorlage, vorlagen, glossar, handbuch, ablage, liste,
        tresor, abschnitt, erinnerung, erinnerungen, merkliste, bericht, diskussionsfaden, cahier, dossier, entree,
        fiche, fiches, compte rendu, compte-rendu, proces-verbal, tache, taches, brouillon, brouillons, modele,
        glossaire, coffre, carnet, rappel, rapport, etiquette, corbeille, nota, notas, carpeta, boveda, diario, pagina,
        paginas, entrada, tarea, tareas, lista, borrador, borradores, acta, actas, plantilla, glosario, hilo, hilos,
        etiqueta, recordatorio, documento, documentos, documentacion, informe, resumen, apunte, apuntes, bitacora,
        appunto, appunti, cartella, verbale, verbali, attivita, bozza, bozze, voce, modello, glossario, promemoria,
        archivio, documenti, documentazione, quaderno, riassunto, resoconto, discussione, anotacao, anotacoes, pasta,
        cofre, ata, atas, tarefa, tarefas, rascunho, rascunhos, modelo, lembrete, topico, documentacao, relatorio,
        resumo, caderno, notitie, notities, aantekening*, map, mappen, kluis, taak, taken, takenlijst, concept,
        sjabloon, logboek, verslag, verslagen, notulen, lijst, boodschappenlijst*, documentatie, woordenlijst,
        herinnering, dagboek, pagina's, draaiboek, 笔记, 纪要, 会议记录, 页面, 文档, 讨论串, メモ, ノート, 議事録,
        ページ, スレッド, ドキュメント, 메모, 노트, 회의록, 페이지, 스레드, заметк*, страниц*, протокол*, документ*,
        notatk*, stron*, protokol*, dokument*, watek, watku, anteckning*, sida, sidan, protokollet, tråden
    """,
    # Gatherings whose results are written down.
    "meeting": """
        meeting, meetings, retro, retros, retrospective*, standup*, stand-up*, daily, weekly, all-hands, kickoff*,
        kick-off*, workshop*, offsite*, off-site, planning meeting, planning, sprint, sprints, steering committee,
        steerco, board meeting, townhall, 1:1, one-on-one*, vendor call, call with, talk with, brainstorm*, spike,
        refinement, grooming, hackathon, guild, besprechung*, sitzung*, runde, architektur-meeting, retrospektive,
        planungsrunde, abstimmung, gesprach mit, reunion, reunions, atelier, reunion de, junta, taller, riunione,
        riunioni, incontro, reuniao, reunioes, encontro, vergadering*, overleg, bijeenkomst*, 会议, 会議, 회의,
        встреч*, spotkani*, mötet, möten
    """,
    # Agreements and their reasons.
    "decision": """
        decide, decided, deciding, decision, decisions, agreed, agreement, agreements, agree with, settle on, settled,
        choose, chose, chosen, picked, go with, going with, opted, rejected, reject, sign-off, approved, approval,
        approve, vetoed, postponed, deferred, supersed*, instead of, over, rationale, reasoning, reasons for,
        reasoning behind, motivation, background on, justification, trade-off*, tradeoff*, arguments, argued, objected,
        objection*, against moving, discuss, discussed, discussion, discussions, debate*, debated, talked about,
        talk about, conclusion*, outcome*, came out of, verdict, lessons learned, learnings, takeaway*, findings,
        promise*, promised, move to, moved to, moving to, adopt*, drop, dropped, dropping, abandon*, killed, kill,
        ditched, scrap*, rolled back, roll back, sunset*, retire, why are we using, why did we, why is it forbidden,
        forbidden, prohibited, open question*, unresolved, still open, undecided, entschied*, entschlossen, entscheid*,
        beschlossen, beschluss*, vereinbar*, abgesprochen, abgemacht, geeinigt, einigung, grund, grunde, begrundung,
        warum haben wir, umgestiegen, besprochen, diskutiert, ergebnis, ergebnisse, abgelehnt, genehmigt, festgelegt,
        hintergrund, on a decide, decidee, convenu, accord, choisi, raison, raisons, discute, retenu, adopte, conclu,
        valide, tranche, decidimos, decidido, decidio, decidieron, decisiones, acordamos, acordado, acordo, acuerdo,
        acuerdos, elegimos, elegido, razon, motivo, motivos, discutimos, discutido, quedamos, hablamos, aprobo,
        conclusiones, deciso, decidemmo, abbiamo deciso, decisione, decisioni, concordato, accordo, accordi, scelto,
        scelta, motivazione, ragione, discusso, stabilito, emerso, approvato, conclusioni, decidiu, ficou decidido,
        decisao, decisoes, combinamos, combinado, escolhemos, escolhido, razao, aprovou, aprovado, besloten,
        beslissing*, besluit*, afgesproken, afspraak, afspraken, overeengekomen, gekozen, reden, redenen, besproken,
        goedgekeurd, overwegingen, waarom hebben we, 为什么选, 决定, 选择了, 我们为什么, 约定, 決定, 決ま, 選ん, 選択,
        採用, 결정, 선택, реши*, выбра*, договор*, wybral*, ustalil*, zdecydow*, postanow*, valde, bestämde, beslut*
    """,
    # Rules, plans, owners, status.
    "rule": """
        get access, access to, apply for, sign up for, request a, ask for a, report a, who approves, approval,
        beantrage*, beantragt, demander un acces, solicito, solicitar, richiedo, richiedere, aanvragen, convention,
        conventions, naming convention*, guideline, guidelines, policy, policies, rule, rules, principle, principles,
        process for, agreed process, procedure, procedures, definition of done, sla, slas, slo, slos, escalation path,
        escalation, on-call, on call, oncall, rota, rotation, compliance, retention, retention period,
        retention policy, vacation, holidays, expense*, reimburse*, compensation, onboarding, offboarding, contingency,
        supposed to, how should, are we allowed, konvention*, richtlinie*, regel, regeln, regelung*, vorgabe*,
        grundsatz*, ablauf, prozess, namenskonvention*, bereitschaft, regles, regle, politique de, politique,
        convention*, astreinte, convenciones, politica, politicas, regla, reglas, procedimiento, normas, guardia,
        convenzioni, regole, regola, procedura, convencoes, regras, regra, procedimento, diretrizes, plantao,
        richtlijn*, regels, beleid, naamgeving, 政策, 规定, 流程, 申请, 权限, 规则, ポリシー, ルール, 手順, 規則, 申請,
        정책, правил*, политик*, zasad*, regul*, regler, policyn
    """,
    "plan": """
        roadmap, milestone*, deadline*, timeline, go-live, planned, plan for, due date, due, quarter, q1, q2, q3, q4,
        h1, h2, last sprint, okr, okrs, objective*, goal, goals, strategy, vision, mission, priorit*, budget,
        headcount, estimate*, status, status of, state of, how far are we, latest on, open tasks, blocked, blockers,
        what's next, slipped, postpone*, overdue, assigned to, beta, public beta, pilot, rollout, roll-out,
        migration project, project, initiative*, epic, epics, fahrplan, meilenstein*, geplant, termin, frist, ziele,
        jalon*, prevu, prevue, echeance, avancement, hito, hitos, planeado, previsto, plazo, plazos, scadenza,
        scadenze, pianificat*, cronograma, prazo, prazos, planejado, andamento, planning, gepland, mijlpa*, voortgang
    """,
    "owner": """
        owner, owners, owns, ownership, who owns, responsible for, who maintains, contact person, who decided,
        who signed, who's on, attendees, participants, stakeholder*, whose, zustandig*, verantwortlich*,
        ansprechpartner*, responsable, responsables, qui s'occupe, quien es responsable, encargado, encargada,
        responsabile, chi si occupa, responsavel, quem cuida, encarregado, verantwoordelijk*, eigenaar, 谁负责, 负责人,
        担当者, 担当, 담당, отвечает, владелец, odpowiada, wlasciciel, ansvarar, ansvarig
    """,
    # Pointing at something written.
    "docref": """
        remind me of, highest level, high-level, make up the platform, is there anything written, what does the,
        is that documented, ever documented, written, written down, write down, wrote, noted, jotted, recorded,
        documented, captured, mentioned, mentions, say about, says about, according to, any record of, record why,
        on record, anything on, did i write, i saved, did i save, what did, big picture, overview of the,
        system architecture, overall architecture, fit together, summary of the, remind me what, remind me why,
        what was the, what were the, was there a, last update, last changed, link to, dated, geschrieben, notiert,
        aufgeschrieben, festgehalten, dokumentiert, laut, erwahnt, uberblick, gesamtarchitektur, ecrit, consigne,
        documente, selon, mentionne, d'apres, escrito, anote, anotado, apuntado, documentado, segun, menciona, scritto,
        annotato, documentato, secondo, menziona, panoramica, anotei, segundo, geschreven, genoteerd, vastgelegd,
        gedocumenteerd, volgens, vermeld*, staat er in, 讨论串, 讨论, スレッド, 議論, 스레드, обсужд*, dyskusj*, watku,
        diskussion*, tråden
    """,
    # Whose it is.
    "own": """
        prod, production, staging, on staging, staging environment, testsystem, testumgebung, entorno de pruebas,
        ambiente di test, testomgeving, we, we're, we've, we'd, our, ours, us, ourselves, my, mine, the team, in-house,
        the project, in the repo, in our repo, the codebase, our platform, the platform, our side, colleague*,
        coworker*, wir, unser, unsere, unserem, unseren, unserer, unseres, uns, mein, meine, meinen, meinem, meiner,
        nous, notre, nos, mon, ma, mes, a-t-on, avons, equipe, l'equipe, nuestro, nuestra, nuestros, nuestras,
        nosotros, mi, mis, hemos, tenemos, usamos, nostro, nostra, nostri, nostre, noi, mio, mia, miei, mie, abbiamo,
        usiamo, nosso, nossa, nossos, nossas, meu, minha, meus, minhas, temos, onze, ons, wij, mijn, hebben we, 我们,
        我们的, 咱们, 私たち, 当社, 弊社, 우리, мы, наш, наша, наши, нашей, нашем, nasz*, nasza, vi, vår, våra, vårt
    """,
    # A wish for a lasting record, in languages in which it may stand anywhere in the sentence.
    "record": """
        新建, 创建, 添加, 写进, 写入, 写到, 记录到, 记录下来, 记下, 保存, 删除, 重命名, 回复, 更新到, 作成して,
        追加して, 保存して, 記録して, 書いて, 削除して, 返信して, 更新して, メモして, 작성해, 추가해, 저장해, 삭제해,
        기록해, добавь*, удали*, запиши*, создай*, сохрани*, dodaj, usun, zapisz, utworz, stworz, usuń, utwórz,
        lägg till, skriv, spara, ta bort
    """,
}
