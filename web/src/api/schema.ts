// Generated from the OpenAPI document of the service by `make types`; not to be edited.

export interface paths {
    "/api/debug/breakpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The breakpoints
         * @description All of them, oldest first.
         */
        get: operations["list_breakpoints"];
        put?: never;
        /**
         * Set a breakpoint
         * @description Have runs paused there, those under way as well; it is kept until it is removed.
         */
        post: operations["set_breakpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/debug/breakpoints/{breakpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a breakpoint
         * @description Runs that it has paused stay paused.
         */
        delete: operations["remove_breakpoint"];
        options?: never;
        head?: never;
        /**
         * Turn a breakpoint on or off
         * @description One that is off pauses nothing.
         */
        patch: operations["change_breakpoint"];
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller
         * @description The user of the request's token, what that user may do, and which models and trees a question may name.
         */
        get: operations["read_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask, and wait for the whole answer
         * @description Ask a question; answered when the run has ended. One that failed is a 200 with `error`.
         *
         *     Sent again with the same `Idempotency-Key` it gives the same answer, from the same run.
         */
        post: operations["answer_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One's conversations
         * @description The caller's own conversations, the one that was used last first.
         */
        get: operations["list_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/conversations/{context_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was said
         * @description The newest messages, oldest first, with the notifications and tool calls of its runs in their places.
         */
        get: operations["read_conversation"];
        put?: never;
        post?: never;
        /**
         * Forget a conversation
         * @description Delete the messages and all texts of the conversation's runs; a query under way is cancelled first.
         *
         *     Figures of the runs (times, tokens, reasons) stay. Notes that the agent has written to the vault stay.
         */
        delete: operations["forget_conversation"];
        options?: never;
        head?: never;
        /**
         * Name a conversation
         * @description Give the conversation another title.
         */
        patch: operations["rename_conversation"];
        trace?: never;
    };
    "/api/oracle/conversations/{context_id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go on otherwise
         * @description Begin a conversation with the messages before a question, so that another one can be asked in its place.
         *
         *     The conversation stays as it is. The new one is one's own like any other: it is listed, and forgotten by its name.
         */
        post: operations["fork_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How a run stands
         * @description Status, times, tree, turns and tokens; operators see everybody's, and why one failed.
         */
        get: operations["read_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run
         * @description Stop the run; its text is kept and `done` follows. A run that has ended is not changed.
         */
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/runs/{run_id}/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A cited source
         * @description Lines of a source that an own run has cited, as the file is now; of very long lines fewer.
         */
        get: operations["read_source"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/runs/{run_id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Take a stream up again
         * @description The run's chunks after the last one seen; also long after the run.
         */
        get: operations["resume_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oracle/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask, and read the answer as it comes
         * @description Ask a question; the answer is streamed, and can be taken up again by `GET /api/oracle/runs/{run_id}/stream`.
         *
         *     Sent again with the same `Idempotency-Key` it goes on with the same run, behind the last event seen; behind `done`
         *     the stream is empty.
         */
        post: operations["stream_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, newest first
         * @description The caller's own runs; for operators everybody's.
         *
         *     A search looks through some thousand runs for a page: a page may be short, or empty, and `next` says whether there
         *     is more to look through.
         */
        get: operations["list_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where two runs part
         * @description The first input that differs, the first tick in which the control does something else, and what follows.
         *
         *     One comparison is made at a time. Runs of very many ticks are compared by `oracle runs diff` alone.
         */
        get: operations["compare_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/debug": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How a run stands for a debugger
         * @description Running or paused, at which tick and by which breakpoint, and what the next tick gets.
         */
        get: operations["read_debug"];
        put?: never;
        /**
         * Debug a run
         * @description Pause, step, resume, change a value, force a result; each command begins the lease anew.
         *
         *     A run of another worker gets the command a moment later.
         */
        post: operations["debug_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A run as a file
         * @description The run with its reasons as one file, or its tree with the statuses at one tick.
         *
         *     One file is made at a time. Runs of very many ticks are exported by `oracle runs export` alone.
         */
        get: operations["export_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened, and why
         * @description A run with its reasons: ticks, and the turns, tool calls, notifications and texts that belong to them.
         *
         *     The pages of a run together are one exported run: the lists joined, and all else as the last page has it. Items that
         *     belong to no tick yet are on the page without `next`; while the run goes on they come again with their tick.
         */
        get: operations["read_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The audit of signals
         * @description Every signal of the model, well-formed or not, and what the control did about it (020 FR-009); oldest first.
         */
        get: operations["read_signals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/ticks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recorded ticks
         * @description Inputs and effects of each tick: status changes, blackboard writes, the cause; oldest first.
         */
        get: operations["read_ticks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/ticks/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch the ticks of a run
         * @description Each tick with what explains it, and with the turns, tool calls, notifications and texts that belong to it.
         *
         *     Visits that this stream has sent before are left out: a node of `visited` without a visit, of a tick with
         *     `omitted_visits`, did the same as in its last one. The first event has all.
         *
         *     The last event has the type `end`, and what belongs to no tick. `GET …/tree` has the nodes that ticks refer to. A
         *     client that reads more slowly than the run goes on loses nothing; its stream may end, to be taken up again.
         */
        get: operations["watch_ticks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tree of a run
         * @description The version that ran: its nodes with their places, the texts of its files, the keys and their first values.
         */
        get: operations["read_run_tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run_id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Requests and responses
         * @description What the model was asked in each turn, as far as it is recorded, and its raw response; oldest first.
         *
         *     A turn that is under way is on the page without `next`.
         */
        get: operations["read_turns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings/agent-config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The limits, and what holds of them
         * @description All fields as the user has set them or by default; `effective`: as ceilings and the tree allow.
         */
        get: operations["read_settings"];
        /**
         * Set some limits
         * @description Any subset of the fields; they hold from the next query on. If one is wrong nothing is saved.
         */
        put: operations["change_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings/agent-config/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Back to the defaults
         * @description Forget what the user has set.
         */
        post: operations["reset_settings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shadow/pairs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pairs of runs, worst first
         * @description Finished pairs, those that are farthest apart first; `primary` and `shadow` are controls as in the report.
         *
         *     `GET /api/runs/{primary_run_id}/compare?with={shadow_run_id}` says where the two part.
         */
        get: operations["list_shadow_pairs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shadow/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether two controls agree
         * @description Agreement, differences with confidence intervals, ends and the worst pairs, by the two controls; for operators.
         *
         *     The newest 10,000 pairs are looked at.
         */
        get: operations["read_shadow_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The trees
         * @description Those that a question may name; for operators all, with their files and the number of their mistakes.
         */
        get: operations["list_trees"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A tree
         * @description Its text, its version, and a picture of what new runs use.
         */
        get: operations["read_tree"];
        /**
         * Save a tree
         * @description Save a text; new runs use it at once, runs under way end on theirs. If anything is wrong nothing is changed.
         */
        put: operations["save_tree"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/{name}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What nodes answered
         * @description How often each node of the file answered yes and no, in the latest runs of what new runs use.
         *
         *     Counted are runs of the tree and of those that include it, of all users, as long as the figures of their ticks are
         *     kept.
         */
        get: operations["count_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The versions of a tree
         * @description All former versions and the present one: who, when and why; newest first.
         */
        get: operations["list_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/{name}/versions/{sha}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The text of a version
         * @description The text of a former version, exactly.
         */
        get: operations["read_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/{name}/versions/{sha}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a version back
         * @description Save the text of a former version as a new one, with the same checks as any other.
         */
        post: operations["restore_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a text
         * @description Check a text as the file of a tree; each mistake in it comes with everything that would remove it.
         *
         *     Of many errors or warnings the first hundred are returned. Judging the control of the tree ends after two seconds of
         *     processor time, with the warning `not-judged`, and when the client has disconnected.
         */
        post: operations["check_tree"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay queries
         * @description Replay the latest recorded queries on the present trees, and with a text in place.
         *
         *     The queries are those that named the tree, or one that includes it; of one query that named another tree there is
         *     nothing to say.
         */
        post: operations["compare_trees"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a text
         * @description What can be typed at a position of a text, which may be incomplete; nothing is saved.
         */
        post: operations["complete_tree"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/definition": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find a declaration
         * @description Where the name at a position is declared: the file of a tree, the line of a key or parameter.
         */
        post: operations["find_definition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/hover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a word
         * @description What the word at a position means: a node kind, a setting, a key, a tool, a tree, a function.
         */
        post: operations["hover_tree"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Play scenarios
         * @description Play all scenario files, also with a text in place of a tree's file.
         *
         *     Lists show how they went with the present files.
         */
        post: operations["try_scenarios"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trees/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a tree
         * @description Explore all behaviours of a tree with a text in place, and prove or refute what must hold for every run.
         */
        post: operations["verify_tree"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness
         * @description The process answers; restart it if it does not.
         */
        get: operations["check_liveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Figures for Prometheus
         * @description Counts and times of this process; none identifies a user.
         */
        get: operations["read_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness
         * @description The service takes queries: its store can be read and written, and interrupted runs have been ended.
         */
        get: operations["check_readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AgentSettings
         * @description The user's limits (defaults where none is set), and those that will apply.
         */
        AgentSettings: {
            /**
             * Capped
             * @description The fields whose effective value is lower than the user's, and why.
             */
            capped: {
                [key: string]: components["schemas"]["Cap"];
            };
            effective: components["schemas"]["ConfigValues"];
            /**
             * Fields
             * @description What is known of each field, by name.
             */
            fields: {
                [key: string]: components["schemas"]["SettingBody"];
            };
            /**
             * Max Iterations
             * @description Most LLM turns of a query; the tree may allow fewer.
             */
            max_iterations: number;
            /**
             * Max Parallel Tools
             * @description How many of a turn's calls run at a time.
             */
            max_parallel_tools: number;
            /**
             * Max Tool Calls Per Turn
             * @description Calls beyond this are answered with an error and not run.
             */
            max_tool_calls_per_turn: number;
            /**
             * Soft Warning Percent
             * @description Share of the turns after which user and model are warned.
             */
            soft_warning_percent: number;
            /**
             * Timeout Seconds
             * @description One deadline for the whole query.
             */
            timeout_seconds: number;
            /**
             * Token Budget
             * @description Most tokens of a query, counted as input, cache creation and output.
             */
            token_budget: number;
            /**
             * Token Warning Percent
             * @description Share of the budget after which user and model are warned.
             */
            token_warning_percent: number;
            /**
             * Tree
             * @description The tree that would answer, which `effective`, `capped` and `fields` speak of.
             */
            tree: string;
        };
        /**
         * Agreement
         * @description How many pairs agree in something, of those that were compared.
         */
        Agreement: {
            /** Count */
            count: number;
            /**
             * Name
             * @enum {string}
             */
            name: "agreement" | "same_end" | "similar_answer" | "same_decisions" | "same_tools";
            share: components["schemas"]["Interval"];
        };
        /**
         * AnswerDifference
         * @description The raw answers of a turn of both runs; `None`: there is none, or it was deleted.
         */
        AnswerDifference: {
            /** New */
            new: string | null;
            /** Old */
            old: string | null;
            /** Turn */
            turn: number;
        };
        /**
         * AnswerMetadata
         * @description The sources of an answer, and why it ended.
         */
        AnswerMetadata: {
            /** Run Id */
            run_id: string;
            /** Sources */
            sources: components["schemas"]["Source"][];
            /**
             * Termination Reason
             * @enum {string}
             */
            termination_reason: "user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck";
        };
        /**
         * AssistantMessage
         * @description An answer: the content chunks of its run, joined.
         */
        AssistantMessage: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /** Content */
            content: string;
            metadata: components["schemas"]["AnswerMetadata"];
            /**
             * N
             * @description 1, 2, 3, … in the conversation.
             */
            n: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "assistant";
            /**
             * Run Id
             * @description The query that it belongs to.
             */
            run_id: string;
            /**
             * Timestamp
             * @description The same as `at`.
             */
            timestamp: string;
            /**
             * Tool Calls
             * @description The calls of its run, in order.
             */
            tool_calls: components["schemas"]["ToolUse"][];
        };
        /**
         * BreachFacts
         * @description A rule of the tree that was broken, or would have been, and what was done: `refuse`, `stop` or `notify`.
         */
        BreachFacts: {
            /** Enforcement */
            enforcement: string;
            /** Event */
            event: string;
            /** Rule */
            rule: string;
            /** Text */
            text: string;
            /** Tick */
            tick: number;
            /** Turn */
            turn: number;
        };
        /**
         * BreakpointBody
         * @description Where runs are paused.
         */
        BreakpointBody: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /** Created By */
            created_by: string;
            /** Enabled */
            enabled: boolean;
            /** Expression */
            expression: string | null;
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "start" | "node" | "condition" | "error";
            /** Path */
            path: string | null;
            /**
             * Problem
             * @description Why no new run can hit it, such as a tree without that node; else null.
             */
            problem: string | null;
            /** Run Id */
            run_id: string | null;
            /** Tree */
            tree: string | null;
            /** User Id */
            user_id: string | null;
        };
        /**
         * BreakpointChange
         * @description Turns a breakpoint on or off.
         */
        BreakpointChange: {
            /** Enabled */
            enabled: boolean;
        };
        /**
         * BreakpointList
         * @description All breakpoints, oldest first.
         */
        BreakpointList: {
            /** Breakpoints */
            breakpoints: components["schemas"]["BreakpointBody"][];
        };
        /**
         * BreakpointNew
         * @description Where runs are to be paused; all that is given must hold.
         */
        BreakpointNew: {
            /** Enabled */
            enabled?: boolean;
            /**
             * Expression
             * @description Over the blackboard, as in tree files.
             */
            expression?: string | null;
            /**
             * Kind
             * @description `start`: before the first tick; `node`: when the node at `path` begins; `condition`: when `expression` becomes true; `error`: when a node raises, or the one at `path`.
             * @enum {string}
             */
            kind: "start" | "node" | "condition" | "error";
            /**
             * Path
             * @description A node of the tree, or of the run's.
             */
            path?: string | null;
            /**
             * Run Id
             * @description Only this run.
             */
            run_id?: string | null;
            /**
             * Tree
             * @description Only runs of this tree.
             */
            tree?: string | null;
            /**
             * User Id
             * @description Only runs of this user.
             */
            user_id?: string | null;
        };
        /**
         * CallFacts
         * @description A tool call.
         *
         *     Args:
         *         turn: the turn that asked for it, or that ended last before the tree did.
         *         began_tick: the tick that ran it; the one after the request, as long as no tick has.
         *         began_s: likewise.
         *         ended_s: `None` while it is under way, or if it was never run.
         *         arguments: as text or JSON; `None` if they were deleted.
         *         result: its text; `None` while there is none, or if it was deleted.
         *         ran: the tool was started; `None` while that is not known.
         */
        CallFacts: {
            /** Arguments */
            arguments?: unknown;
            /** Began S */
            began_s: number;
            /** Began Tick */
            began_tick: number;
            /**
             * Caller
             * @enum {string}
             */
            caller?: "model" | "provider" | "tree";
            /** Ended S */
            ended_s: number | null;
            /** Ended Tick */
            ended_tick: number | null;
            /** Id */
            id: string;
            /** Is Error */
            is_error?: boolean;
            /** Name */
            name: string;
            /** Node */
            node?: number | null;
            /** Ran */
            ran?: boolean | null;
            /** Result */
            result?: string | null;
            /** Turn */
            turn: number;
        };
        /**
         * CancelAnswer
         * @description The cancel was accepted; `done` follows in the stream unless the run has ended.
         */
        CancelAnswer: {
            /** Run Id */
            run_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "running" | "finished";
        };
        /**
         * Cap
         * @description The cap that keeps a field below the user's value.
         */
        Cap: {
            /**
             * By
             * @enum {string}
             */
            by: "operator" | "tree";
            /** Limit */
            limit: number;
        };
        /**
         * Change
         * @description One difference.
         *
         *     Args:
         *         kind: of change.
         *         what: the path of the node, in the new tree unless it was removed; or `key NAME`, `parameter NAME`, `tree`.
         *         text: what has changed, for people; empty if there is no more to say.
         */
        Change: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "added" | "removed" | "moved" | "changed";
            /** Text */
            text?: string;
            /** What */
            what: string;
        };
        /**
         * Chunk
         * @description The `data` of one event of a stream.
         */
        Chunk: components["schemas"]["ThinkingChunk"] | components["schemas"]["ContentChunk"] | components["schemas"]["SourceChunk"] | components["schemas"]["ToolCallChunk"] | components["schemas"]["ToolResultChunk"] | components["schemas"]["SystemChunk"] | components["schemas"]["ErrorChunk"] | components["schemas"]["DoneChunk"];
        /**
         * ClauseFacts
         * @description A part of an expression, from the character `start` to that before `end`; `value` if it was asked.
         */
        ClauseFacts: {
            /** Asked */
            asked: boolean;
            /** End */
            end: number;
            /** Start */
            start: number;
            /** Value */
            value?: unknown;
        };
        /**
         * ConfigValues
         * @description All fields of `AgentConfig`.
         */
        ConfigValues: {
            /**
             * Max Iterations
             * @description Most LLM turns of a query; the tree may allow fewer.
             */
            max_iterations: number;
            /**
             * Max Parallel Tools
             * @description How many of a turn's calls run at a time.
             */
            max_parallel_tools: number;
            /**
             * Max Tool Calls Per Turn
             * @description Calls beyond this are answered with an error and not run.
             */
            max_tool_calls_per_turn: number;
            /**
             * Soft Warning Percent
             * @description Share of the turns after which user and model are warned.
             */
            soft_warning_percent: number;
            /**
             * Timeout Seconds
             * @description One deadline for the whole query.
             */
            timeout_seconds: number;
            /**
             * Token Budget
             * @description Most tokens of a query, counted as input, cache creation and output.
             */
            token_budget: number;
            /**
             * Token Warning Percent
             * @description Share of the budget after which user and model are warned.
             */
            token_warning_percent: number;
        };
        /**
         * ContentChunk
         * @description A piece of the answer, to be appended.
         */
        ContentChunk: {
            /** Content */
            content: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "content";
        };
        /**
         * ControlPair
         * @description The pairs of two controls.
         *
         *     Args:
         *         primary: the control of the runs that users saw.
         *         shadow: the other one.
         *         pairs: finished ones.
         *         compared: those in which no run ended in an error.
         *         first_at: when the first pair was made, ISO 8601 in UTC.
         *         last_at: the latest one.
         *         similarity: of the answers, the mean; `None` if none was compared.
         *         ends: of all finished pairs, the most frequent first.
         *         measures: of the compared ones; empty if there are none.
         *         would_call: how many writing calls the shadows would have made.
         *         worst: the pairs that are farthest apart.
         */
        ControlPair: {
            /** Agreement */
            agreement: components["schemas"]["Agreement"][];
            /** Compared */
            compared: number;
            /** Ends */
            ends: components["schemas"]["EndCount"][];
            /** First At */
            first_at: string;
            /** Last At */
            last_at: string;
            /** Measures */
            measures: components["schemas"]["Measure"][];
            /** Pairs */
            pairs: number;
            /** Primary */
            primary: string;
            /** Shadow */
            shadow: string;
            /** Similarity */
            similarity: number | null;
            /** Worst */
            worst: components["schemas"]["PairFacts"][];
            /** Would Call */
            would_call: number;
        };
        /**
         * ConversationBody
         * @description A conversation and its newest messages, oldest first.
         */
        ConversationBody: {
            /** Context Id */
            context_id: string;
            /**
             * Created At
             * @description ISO 8601, UTC.
             */
            created_at: string;
            live: components["schemas"]["LiveBody"] | null;
            /** Messages */
            messages: (components["schemas"]["UserMessage"] | components["schemas"]["AssistantMessage"] | components["schemas"]["SystemMessage"])[];
            /**
             * Next
             * @description The `before` of the page of earlier messages; null if there are none.
             */
            next: number | null;
            /**
             * Project Id
             * @description The label given when it was begun.
             */
            project_id: string | null;
            /**
             * Run Id
             * @description The run that it is answering; null while it is idle.
             */
            run_id: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "idle" | "answering";
            /**
             * Title
             * @description From the first question, or set by the user.
             */
            title: string;
            /**
             * Updated At
             * @description Time of the last question or answer.
             */
            updated_at: string;
        };
        /**
         * ConversationHead
         * @description A conversation in a list.
         */
        ConversationHead: {
            /** Context Id */
            context_id: string;
            /**
             * Created At
             * @description ISO 8601, UTC.
             */
            created_at: string;
            /**
             * Project Id
             * @description The label given when it was begun.
             */
            project_id: string | null;
            /**
             * Run Id
             * @description The run that it is answering; null while it is idle.
             */
            run_id: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "idle" | "answering";
            /**
             * Title
             * @description From the first question, or set by the user.
             */
            title: string;
            /**
             * Updated At
             * @description Time of the last question or answer.
             */
            updated_at: string;
        };
        /**
         * ConversationList
         * @description Conversations, the most recently used first.
         */
        ConversationList: {
            /** Conversations */
            conversations: components["schemas"]["ConversationHead"][];
            /**
             * Next
             * @description The `before` of the next page; null on the last one.
             */
            next: string | null;
        };
        /**
         * DebugBody
         * @description How a run stands for a debugger.
         */
        DebugBody: {
            /**
             * By
             * @description The operator who caused it; null where none did.
             */
            by: string | null;
            hit: components["schemas"]["DebugHit"] | null;
            /**
             * Lease S
             * @description Seconds until it goes on without a command; null unless it is paused.
             */
            lease_s: number | null;
            /**
             * Results
             * @description Forced results that the next tick gets, by node.
             */
            results: {
                [key: string]: "success" | "failure";
            };
            /**
             * Resumes At
             * @description When that is; ISO 8601, UTC.
             */
            resumes_at: string | null;
            /** Run Id */
            run_id: string;
            /**
             * Since
             * @description Since when; ISO 8601, UTC; null where it was never paused.
             */
            since: string | null;
            /**
             * State
             * @description `pausing`: after its next tick it will be paused; `stepping`: that tick is under way.
             * @enum {string}
             */
            state: "running" | "pausing" | "paused" | "stepping" | "ended";
            /**
             * Tick
             * @description The last one before it came to stand so; 0 before the first.
             */
            tick: number;
            /**
             * Values
             * @description Blackboard values that the next tick gets.
             */
            values: {
                [key: string]: unknown;
            };
            /**
             * Why
             * @description Why it went on, where it did last.
             */
            why: ("command" | "lease" | "limit" | "cancel" | "stopping") | null;
        };
        /**
         * DebugFacts
         * @description What an operator did with the debugger.
         *
         *     Args:
         *         tick: the one that came next.
         *         by: the operator; `None` where none has caused it.
         *         path: of the node whose result was forced, or that a breakpoint was hit at.
         *         key: of the blackboard, that was set.
         *         value: to which; its size, if the texts were deleted.
         *         result: that was forced: `success`, `failure`.
         *         why: the kind of breakpoint that paused the run; why it was resumed: `command`, `lease`, `cancel`, `stopping`.
         *         paused_s: how long it was paused, when it was resumed.
         */
        DebugFacts: {
            /** At S */
            at_s: number;
            /** By */
            by?: string | null;
            /** Key */
            key?: string | null;
            /** Path */
            path?: string | null;
            /** Paused S */
            paused_s?: number | null;
            /** Result */
            result?: string | null;
            /** Tick */
            tick: number;
            /** Value */
            value?: unknown;
            /**
             * What
             * @enum {string}
             */
            what: "pausing" | "paused" | "stepped" | "set" | "forced" | "resumed";
            /** Why */
            why?: string | null;
        };
        /**
         * DebugForce
         * @description Force the result of a node of a paused run.
         */
        DebugForce: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "force";
            /**
             * Path
             * @description Of the node.
             */
            path: string;
            /**
             * Result
             * @description What it returns the next time it is ticked, in place of being ticked.
             * @enum {string}
             */
            result: "success" | "failure";
        };
        /**
         * DebugHit
         * @description The breakpoint that has paused a run.
         */
        DebugHit: {
            /**
             * Breakpoint
             * @description Its id.
             */
            breakpoint: string;
            /**
             * Error
             * @description What the node raised, as `Type: message`.
             */
            error: string | null;
            /**
             * Expression
             * @description What became true.
             */
            expression: string | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "start" | "node" | "condition" | "error";
            /**
             * Path
             * @description The node that began, or raised.
             */
            path: string | null;
        };
        /**
         * DebugSet
         * @description Change a blackboard value of a paused run.
         */
        DebugSet: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "set";
            /**
             * Key
             * @description One that trees may write.
             */
            key: string;
            /**
             * Value
             * @description JSON data of the key's type; the next tick gets it.
             */
            value: unknown;
        };
        /**
         * DebugSimple
         * @description A command that says all by its name.
         */
        DebugSimple: {
            /**
             * @description Pause after the next tick; go on; go on for one tick; stay paused for another lease. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            command: "pause" | "resume" | "step" | "renew";
        };
        /**
         * Decision
         * @description What a run did next.
         *
         *     Args:
         *         turn: the turn of the model that it followed: 1, 2, 3, …
         *         kind: the model called tools; it wrote without calling any, and another turn followed; or the run ended.
         *         tools: names of the tools that were called, in the model's order.
         *         reason: why the run ended; empty if it went on.
         */
        Decision: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "calls" | "text" | "end";
            /** Reason */
            reason?: string;
            /** Tools */
            tools?: string[];
            /** Turn */
            turn: number;
        };
        /**
         * DoneChunk
         * @description The last chunk of every query.
         */
        DoneChunk: {
            /**
             * Context Id
             * @description The conversation to continue with.
             */
            context_id: string;
            /** Model Used */
            model_used: string;
            /** Run Id */
            run_id: string;
            /**
             * Termination Reason
             * @enum {string}
             */
            termination_reason: "user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck";
            /**
             * Tokens Estimated
             * @description The provider reported no usage for at least one turn.
             */
            tokens_estimated: boolean;
            /**
             * Tokens Used
             * @description As the token budget counts them.
             */
            tokens_used: number;
            /**
             * Turns
             * @description Finished LLM turns.
             */
            turns: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "done";
        };
        /**
         * EditBody
         * @description A replacement of the text between two places; line and column count from 1.
         */
        EditBody: {
            /** Column */
            column: number;
            /** End Column */
            end_column: number;
            /** End Line */
            end_line: number;
            /** Line */
            line: number;
            /** Text */
            text: string;
        };
        /**
         * EndCount
         * @description How many pairs ended so.
         */
        EndCount: {
            /** Count */
            count: number;
            /** Primary */
            primary: string;
            /** Shadow */
            shadow: string;
        };
        /**
         * EndEvent
         * @description The `data` of the last event of the stream of ticks.
         */
        EndEvent: {
            /** Breaches */
            breaches: components["schemas"]["BreachFacts"][];
            /** Calls */
            calls: components["schemas"]["CallFacts"][];
            /** Debug */
            debug: components["schemas"]["DebugFacts"][];
            end: components["schemas"]["EndFacts"] | null;
            /** Notices */
            notices: components["schemas"]["NoticeFacts"][];
            /** Problem */
            problem: string;
            run: components["schemas"]["RunFacts"];
            /** Texts */
            texts: components["schemas"]["TextFacts"][];
            /** Turns */
            turns: components["schemas"]["TurnFacts"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "end";
        };
        /**
         * EndFacts
         * @description Why the run ended.
         *
         *     Args:
         *         tick: in which that was decided; `None` if no tick decided it.
         *         node: that decided it; `None` if no node did.
         *         sentence: what decided it, and why, for people.
         *         by: what decided it.
         *         cause: for operators: the failure behind it in the provider's or the service's own words, and what to check;
         *             empty if there is none, and for other users.
         */
        EndFacts: {
            /**
             * By
             * @enum {string}
             */
            by?: "guard" | "stop" | "node" | "answer" | "provider" | "error" | "settled" | "floor" | "rule" | "control" | "service" | "unknown";
            /** Cause */
            cause?: string;
            /** Node */
            node: number | null;
            /** Reason */
            reason: string;
            /** Sentence */
            sentence: string;
            /** Tick */
            tick: number | null;
        };
        /**
         * ErrorAnswer
         * @description The reason for an error response.
         */
        ErrorAnswer: {
            /** Detail */
            detail: string;
        };
        /**
         * ErrorChunk
         * @description The query failed; earlier text stays, and `done` follows.
         */
        ErrorChunk: {
            /**
             * Error
             * @description For the user.
             */
            error: string;
            /**
             * Error Type
             * @enum {string}
             */
            error_type: "provider_auth" | "provider_overloaded" | "provider_failed" | "provider_refused" | "context_too_large" | "tree_failed" | "service_stopping" | "interrupted" | "internal";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "error";
        };
        /**
         * EvaluationFacts
         * @description An evaluation of an expression.
         *
         *     Args:
         *         setting: where it stands in the node's settings: `when`, `values.hint`.
         *         line: of the file, where the text of the expression begins.
         *         column: of its first character there, from 1; `None` if the file has it in another form (folded, escaped).
         *         error: why it failed; empty if it did not.
         */
        EvaluationFacts: {
            /** Clauses */
            clauses: components["schemas"]["ClauseFacts"][];
            /** Column */
            column: number | null;
            /** Error */
            error: string;
            /** Line */
            line: number;
            /** Operands */
            operands: components["schemas"]["OperandFacts"][];
            /** Setting */
            setting: string;
            /** Text */
            text: string;
            /** Value */
            value: unknown;
        };
        /**
         * FigureFacts
         * @description A number that a node looked at, and the limit that it is held against.
         */
        FigureFacts: {
            /** Limit */
            limit?: number | null;
            /** Name */
            name: string;
            /** Unit */
            unit?: string;
            /** Value */
            value: number;
        };
        /**
         * FixBody
         * @description A change that removes a mistake.
         */
        FixBody: {
            /** Edits */
            edits: components["schemas"]["EditBody"][];
            /** Title */
            title: string;
        };
        /**
         * ForkRequest
         * @description Where a conversation is to go on otherwise.
         */
        ForkRequest: {
            /**
             * Before Run
             * @description The run whose question is asked anew; left out: the whole conversation is copied.
             */
            before_run?: string | null;
        };
        /**
         * Health
         * @description The process is alive.
         */
        Health: {
            /**
             * Broken Trees
             * @description Trees whose files have mistakes: their last valid versions are in use. Left out if there is none.
             */
            broken_trees?: number | null;
            /**
             * Encoder
             * @description Whether the encoder answers; in any other state than `ready` heuristics answer alone. Left out if it is `off`.
             */
            encoder?: ("off" | "loading" | "ready" | "slow" | "missing" | "corrupt" | "failed") | null;
            /**
             * Status
             * @enum {string}
             */
            status: "ok" | "ready";
        };
        /**
         * HistoryDifference
         * @description Two runs beside each other.
         *
         *     Args:
         *         input: the first point at which something else came from outside; `None`: nowhere before the control parts.
         *         way: the first point at which the control did something else; `None`: nowhere.
         *         ticks: those in which nodes returned something else, the first thousand.
         *         further_ticks: how many more there are.
         *         answers: of all turns.
         *         old_end: why the first run ended; empty: it has not.
         *         new_end: likewise the second.
         *         tree: what differs between the versions of their trees; `None`: one of them cannot be read.
         *         has_texts: both runs are kept whole; else their causes, results and ends alone were compared.
         */
        HistoryDifference: {
            /** Answers */
            answers: components["schemas"]["AnswerDifference"][];
            /** Further Ticks */
            further_ticks: number;
            /** Has Texts */
            has_texts?: boolean;
            input: components["schemas"]["oracle__histories__differences__Parting"] | null;
            /** New End */
            new_end: string;
            /** Old End */
            old_end: string;
            /** Ticks */
            ticks: components["schemas"]["TickDifference"][];
            /** Tree */
            tree?: components["schemas"]["Change"][] | null;
            way: components["schemas"]["oracle__histories__differences__Parting"] | null;
        };
        /**
         * HistoryPage
         * @description A part of a recorded run: some of its ticks, and what belongs to them.
         */
        HistoryPage: {
            /** Breaches */
            breaches: components["schemas"]["BreachFacts"][];
            /** Calls */
            calls: components["schemas"]["CallFacts"][];
            /** Debug */
            debug: components["schemas"]["DebugFacts"][];
            /** @description Why the run ended; null while it is under way, or not explained so far. */
            end: components["schemas"]["EndFacts"] | null;
            /**
             * Format
             * @constant
             */
            format: "oracle-run";
            /**
             * Keys
             * @description The blackboard's keys, with their values before the first tick. Part of the head.
             */
            keys?: components["schemas"]["KeyFacts"][];
            /**
             * Next
             * @description The `after` of the next page; null if there are no more ticks yet.
             */
            next: number | null;
            /** Notices */
            notices: components["schemas"]["NoticeFacts"][];
            /**
             * Problem
             * @description Why something is missing, or not explained; empty if nothing is.
             */
            problem: string;
            run: components["schemas"]["RunFacts"];
            /** Texts */
            texts: components["schemas"]["TextFacts"][];
            /** Ticks */
            ticks: components["schemas"]["TickFacts"][];
            /** @description The version that ran; null if it is not in the store any more. Part of the head. */
            tree?: components["schemas"]["TreeFacts"] | null;
            /** Turns */
            turns: components["schemas"]["TurnFacts"][];
            /**
             * Unexplained From
             * @description The first tick without reasons, as the run could not be repeated further; null if it could.
             */
            unexplained_from: number | null;
            /**
             * Version
             * @description Of the format.
             */
            version: number;
        };
        /**
         * Interval
         * @description An estimate with its 95 % confidence interval; no bounds where there are too few pairs for one.
         */
        Interval: {
            /** Estimate */
            estimate: number;
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
        };
        /**
         * InvalidRequest
         * @description Everything that is wrong with a request.
         */
        InvalidRequest: {
            /** Detail */
            detail: components["schemas"]["Mistake"][];
        };
        /**
         * KeyFacts
         * @description A blackboard key, and its value before the first tick.
         */
        KeyFacts: {
            /** Description */
            description: string;
            /** Name */
            name: string;
            /** Read Only */
            read_only: boolean;
            /** Type */
            type: string;
            /** Value */
            value?: unknown;
        };
        /**
         * Limits
         * @description Any fields of `AgentConfig`, in snake_case or camelCase; those that are left out stay as they are.
         */
        Limits: {
            /**
             * Max Iterations
             * @description Most LLM turns of a query; the tree may allow fewer.
             */
            max_iterations?: number;
            /**
             * Max Parallel Tools
             * @description How many of a turn's calls run at a time.
             */
            max_parallel_tools?: number;
            /**
             * Max Tool Calls Per Turn
             * @description Calls beyond this are answered with an error and not run.
             */
            max_tool_calls_per_turn?: number;
            /**
             * Soft Warning Percent
             * @description Share of the turns after which user and model are warned.
             */
            soft_warning_percent?: number;
            /**
             * Timeout Seconds
             * @description One deadline for the whole query.
             */
            timeout_seconds?: number;
            /**
             * Token Budget
             * @description Most tokens of a query, counted as input, cache creation and output.
             */
            token_budget?: number;
            /**
             * Token Warning Percent
             * @description Share of the budget after which user and model are warned.
             */
            token_warning_percent?: number;
        };
        /**
         * LiveBody
         * @description The query that a conversation is answering; question and answer become messages when its run ends.
         */
        LiveBody: {
            /**
             * Created At
             * @description ISO 8601, UTC.
             */
            created_at: string;
            /** Question */
            question: string;
            /** Run Id */
            run_id: string;
        };
        /**
         * Me
         * @description The caller, and what a question may choose.
         */
        Me: {
            /**
             * Any Model
             * @description A question may also name any other model of the provider.
             */
            any_model: boolean;
            /**
             * Can Debug
             * @description May pause and change runs: an operator, where live debugging is on.
             */
            can_debug: boolean;
            /**
             * Is Operator
             * @description May see all runs, and save trees.
             */
            is_operator: boolean;
            /**
             * Model
             * @description The model that answers a question that names none.
             */
            model: string;
            /**
             * Models
             * @description The models that a question may name; empty where none can be named.
             */
            models: string[];
            /**
             * Project
             * @description The name of the project whose code is read; null if it has none.
             */
            project: string | null;
            /**
             * Provider
             * @description `offline`: the embedded model, without a network.
             * @enum {string}
             */
            provider: "anthropic" | "offline";
            /**
             * Sources
             * @description The sources that there are tools for.
             */
            sources: ("code" | "vault" | "thread" | "web")[];
            /**
             * Tree
             * @description The tree that answers a question that names none.
             */
            tree: string;
            /**
             * Trees
             * @description The trees that a question may name, by name.
             */
            trees: components["schemas"]["NamedTree"][];
            /** User Id */
            user_id: string;
            /**
             * Version
             * @description Of the service.
             */
            version: string;
        };
        /**
         * Measure
         * @description What both controls needed for the same questions.
         *
         *     Args:
         *         name: of the measure.
         *         primary: its mean.
         *         shadow: likewise.
         *         difference: shadow less primary, the mean over the pairs.
         *         relative: the difference as a share of the primary's mean; `None` if that is 0.
         */
        Measure: {
            difference: components["schemas"]["Interval"];
            /**
             * Name
             * @enum {string}
             */
            name: "tool_calls" | "turns" | "tokens" | "model_seconds";
            /** Primary */
            primary: number;
            /** Relative */
            relative: number | null;
            /** Shadow */
            shadow: number;
        };
        /**
         * Metadata
         * @description The numbers behind a notification; which there are depends on `system_type`.
         */
        Metadata: {
            /** Current Value */
            current_value?: number | null;
            /** Limit Type */
            limit_type?: ("iteration" | "token" | "timeout") | null;
            /** Limit Value */
            limit_value?: number | null;
            /** Percent */
            percent?: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * Mistake
         * @description One mistake in a request.
         */
        Mistake: {
            /** Ctx */
            ctx?: {
                [key: string]: unknown;
            } | null;
            /** Input */
            input?: unknown;
            /** Loc */
            loc: (string | number)[];
            /** Msg */
            msg: string;
            /** Type */
            type: string;
        };
        /**
         * NamedTree
         * @description A tree that a question may name.
         */
        NamedTree: {
            /**
             * Description
             * @description Empty if it has none.
             */
            description: string;
            /** Name */
            name: string;
        };
        /**
         * NodeAnswersBody
         * @description What a node of a tree's file has answered.
         */
        NodeAnswersBody: {
            /** Column */
            column: number;
            /**
             * Line
             * @description Of the file, from 1.
             */
            line: number;
            /**
             * No
             * @description Ticks in which it answered FAILURE.
             */
            no: number;
            /**
             * Path
             * @description In its own tree.
             */
            path: string;
            /**
             * Yes
             * @description Ticks in which it answered SUCCESS.
             */
            yes: number;
        };
        /**
         * NodeDifference
         * @description What a node returned in a tick of each run; `None`: it was not visited.
         */
        NodeDifference: {
            /** New */
            new: ("SUCCESS" | "FAILURE" | "RUNNING" | "INVALID") | null;
            /** Old */
            old: ("SUCCESS" | "FAILURE" | "RUNNING" | "INVALID") | null;
            /** Path */
            path: string;
        };
        /**
         * NodeFacts
         * @description A node of the version of the tree that ran, and its place in the files.
         *
         *     Of a version that cannot be read any more only the paths are known: kind and file are empty, line and column are 0.
         *
         *     Args:
         *         parent: its index; `None` for the root.
         *         slot: of the parent; empty where that has only one.
         *         label: name, kind and settings on one line, as in pictures.
         *         summary: what the kind does, in one line.
         *         title: what people call it: its name, else the tree that it includes, else its kind.
         */
        NodeFacts: {
            /** Category */
            category: string;
            /** Column */
            column: number;
            /** File */
            file: string;
            /** Index */
            index: number;
            /** Kind */
            kind: string;
            /** Label */
            label: string;
            /** Line */
            line: number;
            /** Name */
            name: string | null;
            /** Parent */
            parent: number | null;
            /** Path */
            path: string;
            /** Slot */
            slot: string;
            /** Summary */
            summary?: string;
            /** Title */
            title?: string;
        };
        /**
         * NoticeFacts
         * @description A system notification; the tick is the one that sent it, or the next.
         */
        NoticeFacts: {
            /** At S */
            at_s: number;
            /** Severity */
            severity: string;
            /** Text */
            text: string;
            /** Tick */
            tick: number;
            /** Turn */
            turn: number;
            /** Type */
            type: string;
        };
        /**
         * OperandFacts
         * @description A name that an expression has read; `at`: its places in the text, in characters from 0.
         */
        OperandFacts: {
            /** At */
            at?: number[];
            /** Name */
            name: string;
            /** Value */
            value: unknown;
        };
        /**
         * Parting
         * @description A point at which two runs differ.
         *
         *     Args:
         *         kind: in what.
         *         tick: 0: before the first tick.
         *         path: of the first node that does something else; empty if no node does.
         *         old_node: its index in the first run; `None` if it is not there.
         *         new_node: likewise in the second.
         *         old: what it did, or what came, in the first run; empty: nothing.
         *         new: likewise in the second.
         *         values: that differ there.
         */
        oracle__histories__differences__Parting: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "beginning" | "outcome" | "way" | "effect" | "end";
            /** New */
            new?: string;
            /** New Node */
            new_node?: number | null;
            /** Old */
            old?: string;
            /** Old Node */
            old_node?: number | null;
            /** Path */
            path?: string;
            /** Tick */
            tick: number;
            /** Values */
            values?: components["schemas"]["ValueDifference"][];
        };
        /**
         * Parting
         * @description The first decision in which two runs differ; `None`: the run had ended before.
         *
         *     Args:
         *         primary: what the run did that the user saw.
         *         shadow: what the other one did.
         *         same_tools: both called the same tools, with other arguments.
         */
        oracle__storage__shadow_pairs__Parting: {
            primary: components["schemas"]["Decision"] | null;
            /** Same Tools */
            same_tools?: boolean;
            shadow: components["schemas"]["Decision"] | null;
        };
        /**
         * PairFacts
         * @description A finished pair, as it is shown.
         *
         *     Args:
         *         primary_run_id: the run that the user saw.
         *         shadow_run_id: the same question under the other control.
         *         question: its first 300 characters; empty if it was deleted.
         *         at: when the pair was made, ISO 8601 in UTC.
         *         disagreement: from 0 to 2: how unlike the answers are, and one more if the runs ended for different reasons.
         */
        PairFacts: {
            /** Answered */
            answered: number;
            /** At */
            at: string;
            /** Disagreement */
            disagreement: number;
            parting: components["schemas"]["oracle__storage__shadow_pairs__Parting"] | null;
            primary: components["schemas"]["SideFigures"];
            /** Primary Control */
            primary_control: string;
            /** Primary Run Id */
            primary_run_id: string;
            /** Question */
            question: string;
            /** Ran */
            ran: number;
            /** Same End */
            same_end: boolean;
            shadow: components["schemas"]["SideFigures"];
            /** Shadow Control */
            shadow_control: string;
            /** Shadow Run Id */
            shadow_run_id: string;
            /** Similarity */
            similarity: number;
            /** Tree */
            tree: string;
            /** Would Call */
            would_call: string[];
        };
        /**
         * PairList
         * @description Finished pairs, those that are farthest apart first.
         */
        PairList: {
            /**
             * Next
             * @description The `after` of the next page; null on the last one.
             */
            next: string | null;
            /** Pairs */
            pairs: components["schemas"]["PairFacts"][];
        };
        /**
         * QueryRequest
         * @description A question, and how it is to be answered.
         * @example {
         *       "limits": {
         *         "max_iterations": 5
         *       },
         *       "question": "How does the login work?"
         *     }
         */
        QueryRequest: {
            /**
             * Context Id
             * @description The conversation to continue; none begins one.
             */
            context_id?: string | null;
            /** @description For this query only. */
            limits?: components["schemas"]["Limits"];
            /**
             * Model
             * @description The provider's model that is to answer.
             */
            model?: string | null;
            /**
             * Project Id
             * @description A label of a new conversation.
             */
            project_id?: string | null;
            /**
             * Question
             * @description What is asked.
             */
            question: string;
            /**
             * Tree
             * @description The control: a tree's name.
             */
            tree?: string | null;
        };
        /**
         * ReplayAnswer
         * @description What a condition of the text would have answered.
         */
        ReplayAnswer: {
            /** Operands */
            operands: components["schemas"]["ReplayOperand"][];
            /**
             * Text
             * @description The clause that decided it, or the whole condition.
             */
            text: string;
            /** Yes */
            yes: boolean;
        };
        /**
         * ReplayDifference
         * @description Where a recorded query would first have gone another way.
         */
        ReplayDifference: {
            /** @description What the node would answer; null if it has no condition, and for other users' queries. */
            answer: components["schemas"]["ReplayAnswer"] | null;
            /** File */
            file: string | null;
            /**
             * In
             * @description The tree that the node is of.
             * @enum {string}
             */
            in: "old" | "new";
            /** Line */
            line: number | null;
            /**
             * New
             * @description What the tree would do; null for other users' queries.
             */
            new: string | null;
            /**
             * Old
             * @description What the present tree does; null for other users' queries.
             */
            old: string | null;
            /**
             * Path
             * @description The first node that does something else; empty if only its effects differ.
             */
            path: string;
            /** Tick */
            tick: number;
        };
        /**
         * ReplayedCell
         * @description A tick in which a node was asked.
         */
        ReplayedCell: {
            /**
             * Status
             * @enum {string}
             */
            status: "success" | "failure" | "running" | "invalid";
            /** Tick */
            tick: number;
        };
        /**
         * ReplayedRun
         * @description A recorded query on the present tree and on the text.
         */
        ReplayedRun: {
            difference: components["schemas"]["ReplayDifference"] | null;
            /** New End */
            new_end: ("user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck") | null;
            /**
             * Old End
             * @description Why it ends; null if that is not known.
             */
            old_end: ("user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck") | null;
            /**
             * Question
             * @description Null for other users' queries.
             */
            question: string | null;
            /** Run Id */
            run_id: string;
            /**
             * Tokens Saved
             * @description Tokens that it would have taken less; null if an end is not known.
             */
            tokens_saved: number | null;
            /**
             * Tracks
             * @description The turns of the model and the nodes that differ, in the order of the tree; empty if none does.
             */
            tracks: components["schemas"]["ReplayTrack"][];
            /**
             * Tree
             * @description The tree that it named.
             */
            tree: string;
            /**
             * Turns Saved
             * @description Turns that it would have taken less; null if an end is not known.
             */
            turns_saved: number | null;
            /**
             * Unknown
             * @description Why an end is not known.
             */
            unknown: string | null;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "same" | "another_way" | "differs" | "unknown";
        };
        /**
         * ReplayOperand
         * @description A value that a condition has read.
         */
        ReplayOperand: {
            /** Name */
            name: string;
            /** Value */
            value: unknown;
        };
        /**
         * ReplayTrack
         * @description What a node did around the first difference.
         */
        ReplayTrack: {
            /** Label */
            label: string;
            /** New */
            new: components["schemas"]["ReplayedCell"][];
            /** Old */
            old: components["schemas"]["ReplayedCell"][];
            /** Path */
            path: string;
        };
        /**
         * RequestFacts
         * @description What the model was asked in a turn; `None` is not known.
         *
         *     Args:
         *         segments: of the system prompt, by name.
         *         prompt: its text.
         *         tools: that were offered.
         *         notes: of the control, in this request.
         *         messages: those that are new in this request, as the provider gets them; they are made by repeating the run,
         *             which does not know the conversation before the question.
         *         total_messages: how many it had, those of the conversation among them.
         *         recorded: it was recorded when it was sent; else all of it is made by repeating the run.
         */
        RequestFacts: {
            /** Max Tokens */
            max_tokens?: number | null;
            /** Messages */
            messages?: unknown[];
            /** Notes */
            notes?: string[];
            /** Prompt */
            prompt?: string | null;
            /** Prompt Sha */
            prompt_sha?: string | null;
            /** Recorded */
            recorded?: boolean;
            /** Segments */
            segments?: string[];
            /** Thinking Tokens */
            thinking_tokens?: number | null;
            /** Tool Choice */
            tool_choice?: string;
            /** Tools */
            tools?: string[];
            /** Total Messages */
            total_messages?: number | null;
            /** Wrap Up */
            wrap_up?: boolean;
        };
        /**
         * RunBody
         * @description The state of a run, or how it ended.
         */
        RunBody: {
            /**
             * Cause
             * @description For operators: what went wrong, and what to check; null for others.
             */
            cause: string | null;
            /**
             * Cause Detail
             * @description For operators: the provider's status, error type and request id, as far as they are known.
             */
            cause_detail: {
                [key: string]: unknown;
            } | null;
            /** Context Id */
            context_id: string;
            /**
             * Created At
             * @description ISO 8601, UTC.
             */
            created_at: string;
            /** Deadline At */
            deadline_at: string;
            /**
             * Duration S
             * @description Null while it is under way.
             */
            duration_s: number | null;
            /** Error */
            error: string | null;
            /** Error Type */
            error_type: ("provider_auth" | "provider_overloaded" | "provider_failed" | "provider_refused" | "context_too_large" | "tree_failed" | "service_stopping" | "interrupted" | "internal") | null;
            /** Finished At */
            finished_at: string | null;
            /**
             * Forgotten
             * @description Its texts have been deleted; only its figures remain.
             */
            forgotten: boolean;
            /**
             * Kept
             * @description `whole`: all of it; `figures`: this and the figures of its ticks and signals; `gone`: this alone.
             * @enum {string}
             */
            kept: "whole" | "figures" | "gone";
            /** Limits */
            limits: {
                [key: string]: number;
            };
            /** Model Used */
            model_used: string | null;
            /**
             * Question
             * @description Its first 300 characters; empty if its texts have been deleted.
             */
            question: string;
            /** Run Id */
            run_id: string;
            /**
             * Shadow Of
             * @description The run that it shadows; null for what a user has asked.
             */
            shadow_of: string | null;
            /**
             * Status
             * @enum {string}
             */
            status: "running" | "finished";
            /** @description Null while it is under way, and for runs of older versions. */
            summary: components["schemas"]["RunSummaryBody"] | null;
            /** Termination Reason */
            termination_reason: ("user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck") | null;
            /** Tokens Estimated */
            tokens_estimated: boolean;
            /** Tokens Used */
            tokens_used: number;
            /**
             * Trace Id
             * @description The OpenTelemetry trace that it is part of; null where traces are off.
             */
            trace_id: string | null;
            tree: components["schemas"]["TreeVersionBody"];
            /**
             * Turn Limit
             * @description The most turns: `max_iterations`, or what the tree allows if that is less and is still known.
             */
            turn_limit: number;
            /**
             * Turns
             * @description Finished LLM turns so far.
             */
            turns: number;
            /** User Id */
            user_id: string;
        };
        /**
         * RunComparison
         * @description Two recorded runs beside each other; `old` is the run of the path.
         */
        RunComparison: {
            difference: components["schemas"]["HistoryDifference"];
            /**
             * Is Same
             * @description They did the same for the same reasons.
             */
            is_same: boolean;
            /** Run Id */
            run_id: string;
            /** With */
            with: string;
        };
        /**
         * RunCountsBody
         * @description How many runs a list has, over all pages.
         */
        RunCountsBody: {
            /**
             * By Reason
             * @description By termination reason; `running`: those that are under way.
             */
            by_reason: {
                [key: string]: number;
            };
            /**
             * Is Complete
             * @description All were counted; otherwise the newest 10,000, or those searched first.
             */
            is_complete: boolean;
            /** Total */
            total: number;
        };
        /**
         * RunFacts
         * @description The row of a run; fields of the end are `None` before it.
         */
        RunFacts: {
            /** Context Id */
            context_id: string;
            /** Created At */
            created_at: number;
            /** Error */
            error: string | null;
            /** Finished At */
            finished_at: number | null;
            /** Id */
            id: string;
            /**
             * Kept
             * @enum {string}
             */
            kept?: "whole" | "figures" | "gone";
            /** Limits */
            limits: {
                [key: string]: number;
            };
            /** Model */
            model: string | null;
            /** Question */
            question: string;
            /**
             * Status
             * @enum {string}
             */
            status: "running" | "finished";
            /** Termination Reason */
            termination_reason: string | null;
            /** Tokens Estimated */
            tokens_estimated: boolean;
            /** Tokens Used */
            tokens_used: number;
            /** Tree */
            tree: string;
            /** Tree Version */
            tree_version: string | null;
            /** Turns */
            turns: number;
            /** User Id */
            user_id: string;
        };
        /**
         * RunList
         * @description Runs, newest first.
         */
        RunList: {
            /** @description Null where it was not asked for. */
            counts: components["schemas"]["RunCountsBody"] | null;
            /**
             * Next
             * @description The `before` of the next page; null on the last one.
             */
            next: string | null;
            /** Runs */
            runs: components["schemas"]["RunBody"][];
        };
        /**
         * RunSummaryBody
         * @description The figures of a finished run.
         */
        RunSummaryBody: {
            /**
             * Node Errors
             * @description Exceptions that nodes raised.
             */
            node_errors: number;
            /**
             * Notices
             * @description System notifications that were sent.
             */
            notices: number;
            /**
             * Shape
             * @description Turns, tool calls and notifications by their start: kind, start and duration in ms.
             */
            shape: [
                "turn" | "tool" | "notice",
                number,
                number
            ][];
            /**
             * Ticks
             * @description Recorded ticks.
             */
            ticks: number;
            /**
             * Tool Errors
             * @description Those that failed, were refused or were cancelled.
             */
            tool_errors: number;
            /**
             * Tools
             * @description Tool calls of the model.
             */
            tools: number;
        };
        /**
         * RunTree
         * @description The version of the tree that a run has used, and its blackboard before the first tick.
         */
        RunTree: {
            /**
             * Keys
             * @description Empty before the first tick, and if the tree cannot be read any more.
             */
            keys: components["schemas"]["KeyFacts"][];
            /**
             * Problem
             * @description Why something is missing; empty if nothing is.
             */
            problem: string;
            /** Run Id */
            run_id: string;
            /** @description Null if the version is not in the store any more, or no tree drove it. */
            tree: components["schemas"]["TreeFacts"] | null;
        };
        /**
         * ScenarioDifference
         * @description What happened in place of what is stated.
         */
        ScenarioDifference: {
            /** Expected */
            expected: unknown;
            /** Got */
            got: unknown;
            /** Hint */
            hint?: string | null;
            /** Line */
            line: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * ScenarioFile
         * @description A file of scenarios.
         */
        ScenarioFile: {
            /** File */
            file: string;
            /** Mistakes */
            mistakes: string | null;
            /** Passed */
            passed: boolean;
            /** Scenarios */
            scenarios: components["schemas"]["ScenarioResult"][];
        };
        /**
         * ScenarioResult
         * @description A scenario that was played.
         */
        ScenarioResult: {
            /** Differences */
            differences?: components["schemas"]["ScenarioDifference"][] | null;
            /** Name */
            name: string;
            /** Passed */
            passed: boolean;
            /**
             * Problem
             * @description Why it could not be played.
             */
            problem?: string | null;
            /**
             * Tree
             * @description The tree that it plays.
             */
            tree: string;
            /**
             * Visited Trees
             * @description That tree and its parts that were reached.
             */
            visited_trees?: string[] | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * SettingBody
         * @description A field of the settings; a value beyond its bounds is refused, one beyond a ceiling is lowered to it.
         */
        SettingBody: {
            /**
             * Ceiling
             * @description Of the operator; null if the field has none.
             */
            ceiling: number | null;
            /** Default */
            default: number;
            /** Description */
            description: string;
            /** Maximum */
            maximum: number;
            /** Minimum */
            minimum: number;
            /**
             * Tree
             * @description The greatest value that the tree uses; null if it has no say.
             */
            tree: number | null;
        };
        /**
         * ShadowReport
         * @description What recorded pairs say about their controls.
         *
         *     Args:
         *         pairs: all that were sampled and looked at, whatever became of them.
         *         running: not finished yet.
         *         dropped: never begun, by reason.
         *         failed: begun and without figures, by reason.
         *         groups: the latest first.
         *         further_groups: how many more there are.
         *         is_complete: all pairs were looked at, not the newest alone.
         *         method: how the figures are made.
         */
        ShadowReport: {
            /** Dropped */
            dropped: {
                [key: string]: number;
            };
            /** Failed */
            failed: {
                [key: string]: number;
            };
            /** Further Groups */
            further_groups: number;
            /** Groups */
            groups: components["schemas"]["ControlPair"][];
            /** Is Complete */
            is_complete: boolean;
            /** Method */
            method?: string;
            /** Pairs */
            pairs: number;
            /** Running */
            running: number;
        };
        /**
         * SideFigures
         * @description The figures of one run of a pair.
         *
         *     Args:
         *         reason: why it ended.
         *         turns: finished turns of the model.
         *         tools: tool calls of the model.
         *         tokens: as the budget counts them.
         *         model_ms: the time of its turns; tool calls are not part of it, because a shadow's are answered from a record.
         *         ms: from its begin to its end.
         *         signals: types of the model's signals, in order; at most the first fifty.
         */
        SideFigures: {
            /** Model Ms */
            model_ms: number;
            /** Ms */
            ms: number;
            /** Reason */
            reason: string;
            /** Signals */
            signals?: string[];
            /** Tokens */
            tokens: number;
            /** Tools */
            tools: number;
            /** Turns */
            turns: number;
        };
        /**
         * SignalFacts
         * @description A signal of a turn.
         *
         *     Args:
         *         type: as declared; empty if that is unreadable.
         *         raw: the block as the model wrote it; `None` if it was deleted.
         *         problem: why it is malformed; empty if it is not.
         *         action: what the control did about it, in its own terms; empty if that is not known.
         */
        SignalFacts: {
            /** Action */
            action?: string;
            /** Confidence */
            confidence?: number | null;
            /** Fields */
            fields?: {
                [key: string]: unknown;
            };
            /** Malformed */
            malformed?: boolean;
            /** Problem */
            problem?: string;
            /** Raw */
            raw?: string | null;
            /** Type */
            type: string;
        };
        /**
         * SignalList
         * @description The signals of the model, and the action taken on each, oldest first.
         */
        SignalList: {
            /**
             * Next
             * @description The `after` of the next page; null if there are no more signals yet.
             */
            next: number | null;
            /** Run Id */
            run_id: string;
            /** Signals */
            signals: components["schemas"]["SignalRecord"][];
        };
        /**
         * SignalRecord
         * @description One signal of one turn, or the fact that the turn had none.
         *
         *     Args:
         *         turn: the LLM turn of the response, from 1.
         *         outcome: `accepted`: it was the response's signal; `ignored`: a later one; `malformed`: an invalid signal;
         *             `absent`: the response had no signal block.
         *         type: as declared, in lower case, also of a malformed signal; `None` if there is none or it is unreadable.
         *         confidence: 0.0-1.0; `None` unless the signal is well-formed.
         *         fields: the fields of its type that were given.
         *         raw_xml: the block as the model wrote it; `None` for `absent`.
         *         warnings: the reader's warnings.
         *         action: what the control did, in its own terms (`another_turn`, `fallback`, ...); empty if unknown.
         *         at: when it was read; aware.
         */
        SignalRecord: {
            /** Action */
            action?: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Confidence */
            confidence?: number | null;
            /** Fields */
            fields?: {
                [key: string]: unknown;
            };
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "accepted" | "ignored" | "malformed" | "absent";
            /** Raw Xml */
            raw_xml?: string | null;
            /** Turn */
            turn: number;
            /** Type */
            type?: string | null;
            /** Warnings */
            warnings?: string[];
        };
        /**
         * Source
         * @description Where something in the answer comes from; fields without a value are left out.
         */
        Source: {
            /**
             * Line
             * @description The first line that matters, from 1.
             */
            line?: number | null;
            /**
             * Path
             * @description Relative to the root of its kind; an address for `web`.
             */
            path: string;
            /**
             * Score
             * @description Greater is better; comparable only within one result.
             */
            score?: number | null;
            /** Snippet */
            snippet?: string | null;
            /**
             * Source Type
             * @enum {string}
             */
            source_type: "code" | "vault" | "thread" | "web";
        };
        /**
         * SourceChunk
         * @description A source that the answer may rest on; each is sent once per query.
         */
        SourceChunk: {
            source: components["schemas"]["Source"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "source";
        };
        /**
         * SourceText
         * @description Lines of a source that a run has cited, as its file is now.
         */
        SourceText: {
            /**
             * First Line
             * @description The number of the first of `lines`, from 1.
             */
            first_line: number;
            /**
             * Is Exact
             * @description The file is valid in its encoding; otherwise wrong bytes are U+FFFD.
             */
            is_exact: boolean;
            /**
             * Is Whole
             * @description The file was read to its end; of one that is very large only the beginning is.
             */
            is_whole: boolean;
            /**
             * Line
             * @description The line that was asked for.
             */
            line: number | null;
            /**
             * Lines
             * @description Plain text without line ends; long ones are cut, with a mark that says so.
             */
            lines: string[];
            /** Path */
            path: string;
            /** Run Id */
            run_id: string;
            /**
             * Source Type
             * @enum {string}
             */
            source_type: "code" | "vault" | "thread";
            /**
             * Total Lines
             * @description How many the file has.
             */
            total_lines: number;
        };
        /**
         * SystemChunk
         * @description A notification in the chat, neither the user's nor the model's; never sent to the model.
         */
        SystemChunk: {
            metadata: components["schemas"]["Metadata"];
            /**
             * Severity
             * @enum {string}
             */
            severity: "info" | "warning" | "error";
            /** System Message */
            system_message: string;
            /**
             * System Type
             * @enum {string}
             */
            system_type: "limit_warning" | "limit_reached" | "no_progress" | "error_limit" | "stuck" | "capability_gap" | "delegation_recommended" | "fallback" | "paused";
            /**
             * Timestamp
             * @description ISO 8601, UTC.
             */
            timestamp: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "system";
        };
        /**
         * SystemMessage
         * @description A notification, with the fields of its chunk; the model never sees it.
         */
        SystemMessage: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /** Content */
            content: string;
            metadata: components["schemas"]["Metadata"];
            /**
             * N
             * @description 1, 2, 3, … in the conversation.
             */
            n: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "system";
            /**
             * Run Id
             * @description The query that it belongs to.
             */
            run_id: string;
            /**
             * Severity
             * @enum {string}
             */
            severity: "info" | "warning" | "error";
            /** System Message */
            system_message: string;
            /**
             * System Type
             * @enum {string}
             */
            system_type: "limit_warning" | "limit_reached" | "no_progress" | "error_limit" | "stuck" | "capability_gap" | "delegation_recommended" | "fallback" | "paused";
            /**
             * Timestamp
             * @description The same as `at`.
             */
            timestamp: string;
        };
        /**
         * TestedTree
         * @description How the scenarios that reach a tree went, the last time that they were played.
         */
        TestedTree: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /** Passed */
            passed: number;
            /**
             * Scenarios
             * @description How many there are; 0: none reaches it.
             */
            scenarios: number;
        };
        /**
         * TextFacts
         * @description A piece of what the user could read: `content`, `thinking`, `source`, `error`; pieces of a tick are joined.
         */
        TextFacts: {
            /** At S */
            at_s: number;
            /** Text */
            text: string;
            /** Tick */
            tick: number;
            /** Turn */
            turn: number;
            /** Type */
            type: string;
        };
        /**
         * ThinkingChunk
         * @description A piece of the model's thinking, to be appended.
         */
        ThinkingChunk: {
            /** Content */
            content: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "thinking";
        };
        /**
         * Tick
         * @description One tick of the tree: its input, and what it did. Nodes are referred to by their index in `nodes`.
         */
        Tick: {
            /**
             * At S
             * @description Seconds of the run's clock.
             */
            at_s: number;
            /**
             * Cause
             * @enum {string}
             */
            cause: "start" | "outcome" | "deadline" | "delivery" | "again" | "end";
            /**
             * Causes
             * @description The requests, nodes or keys that caused it.
             */
            causes: string[];
            /**
             * Changes
             * @description (node, status) of each node whose status differs from that at the end of the previous tick.
             */
            changes: [
                number,
                "SUCCESS" | "FAILURE" | "RUNNING" | "INVALID"
            ][];
            /**
             * Decision
             * @description The node that decided what happens next; null if that is not known.
             */
            decision?: number | null;
            /**
             * Deliveries
             * @description (key, value) of each delivery from outside.
             */
            deliveries: [
                string,
                unknown
            ][];
            /**
             * Errors
             * @description (path, error) of exceptions in nodes.
             */
            errors: [
                string,
                string
            ][];
            /**
             * Headline
             * @description What happened, and what was decided.
             */
            headline?: string;
            /**
             * Outcomes
             * @description Outcomes that the tree received at the start of this tick.
             */
            outcomes: components["schemas"]["TickOutcome"][];
            /**
             * Tick
             * @description 1, 2, 3, …
             */
            tick: number;
            /**
             * Took Ms
             * @description How long the tick took, in real milliseconds; 0 where it was not measured.
             */
            took_ms: number;
            /**
             * Turn
             * @description The model's turn that it belongs to. With `reasons`, as the next three.
             */
            turn?: number;
            /**
             * Visited
             * @description The nodes that were ticked, in order of entry.
             */
            visited: number[];
            /**
             * Visits
             * @description How it came to that; empty if that is not known.
             */
            visits?: components["schemas"]["VisitFacts"][];
            /**
             * Writes
             * @description (key, value) of each blackboard write, in order.
             */
            writes: [
                string,
                unknown
            ][];
        };
        /**
         * TickDifference
         * @description The nodes whose results differ in a tick.
         */
        TickDifference: {
            /** Nodes */
            nodes: components["schemas"]["NodeDifference"][];
            /** Tick */
            tick: number;
        };
        /**
         * TickEvent
         * @description The `data` of an event of the stream of ticks.
         */
        TickEvent: {
            /** Breaches */
            breaches: components["schemas"]["BreachFacts"][];
            /** Calls */
            calls: components["schemas"]["CallFacts"][];
            /** Debug */
            debug: components["schemas"]["DebugFacts"][];
            /** Notices */
            notices: components["schemas"]["NoticeFacts"][];
            /**
             * Omitted Visits
             * @description How many visits are left out; if there are some, each node of `visited` without a visit here did the same as in its last one.
             */
            omitted_visits: number;
            /** Texts */
            texts: components["schemas"]["TextFacts"][];
            /** @description Its `visits` are only those that differ from the last one of the same node in this stream. */
            tick: components["schemas"]["TickFacts"];
            /** Turns */
            turns: components["schemas"]["TurnFacts"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tick";
        };
        /**
         * TickFacts
         * @description A tick.
         *
         *     Args:
         *         at_s: from the start of the query.
         *         took_ms: the duration of the tick itself; 0 if it was not recorded.
         *         turn: the number of the model's turn that it belongs to: the one whose outcome it got, else the one that is
         *             under way or begins, else the last one; 0 before the first.
         *         visited: the nodes that were ticked, in order.
         *         changes: the nodes whose status differs from the end of the tick before.
         *         writes: to the blackboard, in order: key and value.
         *         errors: exceptions: node path and `Type: message`.
         *         decision: the node that decided what happens next; `None` if that is not known.
         *         headline: what happened and what was decided, in one or two sentences.
         *         visits: how it came to that; empty if the run cannot be repeated.
         *         given_back: halted nodes that got what their work had brought until then, before this tick; each with its
         *             writes.
         */
        TickFacts: {
            /** At S */
            at_s: number;
            /**
             * Cause
             * @enum {string}
             */
            cause: "start" | "outcome" | "deadline" | "delivery" | "again" | "end";
            /** Causes */
            causes: string[];
            /** Changes */
            changes: [
                number,
                "SUCCESS" | "FAILURE" | "RUNNING" | "INVALID"
            ][];
            /** Decision */
            decision?: number | null;
            /** Deliveries */
            deliveries: [
                string,
                unknown
            ][];
            /** Errors */
            errors: [
                string,
                string
            ][];
            /** Given Back */
            given_back?: components["schemas"]["VisitFacts"][];
            /** Headline */
            headline?: string;
            /** Tick */
            tick: number;
            /** Took Ms */
            took_ms: number;
            /** Turn */
            turn: number;
            /** Visited */
            visited: number[];
            /** Visits */
            visits?: components["schemas"]["VisitFacts"][];
            /** Writes */
            writes: [
                string,
                unknown
            ][];
        };
        /**
         * TickList
         * @description Recorded ticks, oldest first.
         */
        TickList: {
            /**
             * Next
             * @description The `after` of the next page; null if there are no more ticks yet.
             */
            next: number | null;
            /**
             * Nodes
             * @description Paths of the tree's nodes; ticks refer to nodes by their index here.
             */
            nodes: string[];
            /** Run Id */
            run_id: string;
            /** Ticks */
            ticks: components["schemas"]["Tick"][];
            /** Tree */
            tree: string;
            /** Version */
            version: string | null;
        };
        /**
         * TickOutcome
         * @description How a request of a node ended; its value is not included.
         */
        TickOutcome: {
            /** At S */
            at_s: number;
            /**
             * Kept
             * @description It has a value, or failed.
             */
            kept?: boolean;
            /**
             * Key
             * @description The request: `path@n` for the n-th of that node in this run.
             */
            key: string;
            /**
             * State
             * @enum {string}
             */
            state: "done" | "failed" | "cancelled";
        };
        /**
         * TickStream
         * @description The `data` of a tick's event.
         */
        TickStream: components["schemas"]["TickEvent"] | components["schemas"]["EndEvent"];
        /**
         * TitleChange
         * @description Another title.
         */
        TitleChange: {
            /** Title */
            title: string;
        };
        /**
         * ToolCall
         * @description A call of a tool by the model.
         */
        ToolCall: {
            /** Arguments */
            arguments: {
                [key: string]: unknown;
            };
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * ToolCallChunk
         * @description The model called a tool; its result follows.
         */
        ToolCallChunk: {
            tool_call: components["schemas"]["ToolCall"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_call";
        };
        /**
         * ToolResultChunk
         * @description The result of a tool call; also sent for calls that were refused, not run or cancelled.
         */
        ToolResultChunk: {
            /** Duration Ms */
            duration_ms: number;
            /** Is Error */
            is_error: boolean;
            /** Tool Call Id */
            tool_call_id: string;
            /** Tool Result */
            tool_result: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_result";
        };
        /**
         * ToolUse
         * @description A tool call and its result; long arguments and results are shortened, with a mark that says so.
         */
        ToolUse: {
            /** Arguments */
            arguments: {
                [key: string]: unknown;
            };
            /** Duration Ms */
            duration_ms: number;
            /** Id */
            id: string;
            /** Is Error */
            is_error: boolean;
            /** Name */
            name: string;
            /**
             * Timestamp
             * @description ISO 8601, UTC.
             */
            timestamp: string;
            /** Tool Result */
            tool_result: string;
        };
        /**
         * TreeAnswersBody
         * @description How often the nodes of a tree's file have answered, in recorded runs of what new runs use.
         */
        TreeAnswersBody: {
            /**
             * Is Complete
             * @description Otherwise there was no time for the older ones; ask again.
             */
            is_complete: boolean;
            /**
             * Is Current
             * @description That is the present file.
             */
            is_current: boolean;
            /** Name */
            name: string;
            /**
             * Nodes
             * @description In the order of the file.
             */
            nodes: components["schemas"]["NodeAnswersBody"][];
            /**
             * Run Version
             * @description The lines are those of the file in this version.
             */
            run_version: string | null;
            /**
             * Runs
             * @description How many were counted, the newest ones: of this tree, and of those that include it.
             */
            runs: number;
            /**
             * Since
             * @description When the oldest of them began; ISO 8601, UTC.
             */
            since: string | null;
        };
        /**
         * TreeBody
         * @description A tree: its present file, and what new runs use.
         */
        TreeBody: {
            /**
             * Changed At
             * @description When the newest version came; ISO 8601, UTC. For operators.
             */
            changed_at: string | null;
            /** Description */
            description: string;
            /**
             * File
             * @description For operators: the path of the present file; null for others.
             */
            file: string | null;
            /**
             * Includes
             * @description The trees that it includes, directly or not.
             */
            includes: string[];
            /**
             * Internal
             * @description It is a part of other trees; a question cannot name it.
             */
            internal: boolean;
            /**
             * Is Current
             * @description New runs use the present file; otherwise it has mistakes.
             */
            is_current: boolean;
            /** Mistake Count */
            mistake_count: number;
            /**
             * Mistakes
             * @description Of the present file and those that it includes.
             */
            mistakes: components["schemas"]["TreeMistake"][];
            /** Name */
            name: string;
            /**
             * Node Count
             * @description Of what new runs use, subtrees included; null if there is none.
             */
            node_count: number | null;
            /**
             * Nodes
             * @description Of what new runs use, in the order of the file.
             */
            nodes: components["schemas"]["TreeNode"][];
            /**
             * Origin
             * @description Whose file serves the name.
             * @enum {string}
             */
            origin: "operator" | "shipped";
            /**
             * Outline
             * @description What new runs use, drawn as text.
             */
            outline: string | null;
            /**
             * Picture
             * @description What new runs use, drawn as SVG.
             */
            picture: string | null;
            /**
             * Run Version
             * @description What new runs use, subtrees included: `tree.version` of a run; null if no version was ever valid.
             */
            run_version: string | null;
            /** @description Those of the last 24 hours that named it; for operators everybody's. */
            runs_of_day: components["schemas"]["TreeRuns"];
            /**
             * Shadows
             * @description It takes the place of a tree of the same name in another folder.
             */
            shadows: boolean;
            /**
             * Source
             * @description The text of the present file; null if it cannot be read.
             */
            source: string | null;
            /** @description With the trees of now; null if they were not tested since then. */
            tested: components["schemas"]["TestedTree"] | null;
            /**
             * Used By
             * @description The trees that include it, directly or not.
             */
            used_by: string[];
            /** @description Of what new runs use; null if it was not verified since then. */
            verified: components["schemas"]["VerifiedTree"] | null;
            /**
             * Version
             * @description Of the present file: SHA-256 of its bytes; null if it cannot be read.
             */
            version: string | null;
            /**
             * Version Count
             * @description For operators; null for others.
             */
            version_count: number | null;
            /** Warning Count */
            warning_count: number;
            /** Warnings */
            warnings: components["schemas"]["TreeMistake"][];
        };
        /**
         * TreeCheck
         * @description The result of a check.
         */
        TreeCheck: {
            /** Mistakes */
            mistakes: components["schemas"]["TreeMistake"][];
            /**
             * Ok
             * @description There are no mistakes; there may be warnings.
             */
            ok: boolean;
            /** Warnings */
            warnings: components["schemas"]["TreeMistake"][];
        };
        /**
         * TreeComparison
         * @description Which recorded queries would have gone another way: the named one, then those of each tree, newest first.
         */
        TreeComparison: {
            /** Runs */
            runs: components["schemas"]["ReplayedRun"][];
        };
        /**
         * TreeCompletion
         * @description Something that can be typed at a position.
         */
        TreeCompletion: {
            /** Column */
            column: number;
            /** Detail */
            detail: string;
            /**
             * Doc
             * @description Markdown.
             */
            doc: string;
            /** End Column */
            end_column: number;
            /** End Line */
            end_line: number;
            /**
             * Insert
             * @description What takes its place.
             */
            insert: string;
            /**
             * Kind
             * @description What it is: a node kind, a setting, a key, a value, …
             */
            kind: string;
            /**
             * Label
             * @description What a list shows.
             */
            label: string;
            /**
             * Line
             * @description With the next three: the text that it replaces.
             */
            line: number;
            /**
             * Snippet
             * @description The same with places to fill in, as `${1:name}`.
             */
            snippet: string | null;
        };
        /**
         * TreeCompletions
         * @description What can be typed at a position, the likeliest first.
         */
        TreeCompletions: {
            /** Items */
            items: components["schemas"]["TreeCompletion"][];
        };
        /**
         * TreeConflict
         * @description Why a tree is not saved: the edit was not made from the present version, or the folder cannot be written.
         */
        TreeConflict: {
            /**
             * At
             * @description When; ISO 8601, UTC.
             */
            at?: string | null;
            /** Detail */
            detail: string;
            /**
             * Difference
             * @description What has changed since the version that the edit was made from, a line per change.
             */
            difference?: string | null;
            /**
             * Note
             * @description Why.
             */
            note?: string | null;
            /**
             * User Id
             * @description Who saved it; null if its file was changed by other means.
             */
            user_id?: string | null;
            /**
             * Version
             * @description The present version; null if there is no file.
             */
            version?: string | null;
        };
        /**
         * TreeCursor
         * @description A text that is being typed, and where.
         */
        TreeCursor: {
            /**
             * Column
             * @description Of the cursor, in characters from 1.
             */
            column: number;
            /**
             * Line
             * @description Of the cursor, from 1.
             */
            line: number;
            /**
             * Name
             * @description The tree whose file it would be: the trees that include it are checked with it.
             */
            name?: string | null;
            /**
             * Source
             * @description The whole text of a tree file.
             */
            source: string;
        };
        /**
         * TreeEditBody
         * @description A version of a tree's file.
         */
        TreeEditBody: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /**
             * How
             * @description Saved or taken back by a user; a change of the file by other means; or a part of a release.
             * @enum {string}
             */
            how: "saved" | "restored" | "file" | "shipped";
            /**
             * Is Present
             * @description It is the text of the present file.
             */
            is_present: boolean;
            /** Note */
            note: string | null;
            /**
             * Size
             * @description Bytes.
             */
            size: number;
            /** User Id */
            user_id: string | null;
            /** Version */
            version: string;
        };
        /**
         * TreeEditList
         * @description Versions of a tree, newest first.
         */
        TreeEditList: {
            /** Name */
            name: string;
            /** Versions */
            versions: components["schemas"]["TreeEditBody"][];
        };
        /**
         * TreeFacts
         * @description The version of the tree that ran.
         *
         *     Args:
         *         file: of the root.
         *         files: the texts, by file as in the places of the nodes.
         */
        TreeFacts: {
            /** File */
            file: string;
            /** Files */
            files: {
                [key: string]: string;
            };
            /** Name */
            name: string;
            /** Nodes */
            nodes: components["schemas"]["NodeFacts"][];
            /** Version */
            version: string;
        };
        /**
         * TreeHead
         * @description A tree in a list.
         */
        TreeHead: {
            /**
             * Changed At
             * @description When the newest version came; ISO 8601, UTC. For operators.
             */
            changed_at: string | null;
            /** Description */
            description: string;
            /**
             * File
             * @description For operators: the path of the present file; null for others.
             */
            file: string | null;
            /**
             * Includes
             * @description The trees that it includes, directly or not.
             */
            includes: string[];
            /**
             * Internal
             * @description It is a part of other trees; a question cannot name it.
             */
            internal: boolean;
            /**
             * Is Current
             * @description New runs use the present file; otherwise it has mistakes.
             */
            is_current: boolean;
            /** Mistake Count */
            mistake_count: number;
            /** Name */
            name: string;
            /**
             * Node Count
             * @description Of what new runs use, subtrees included; null if there is none.
             */
            node_count: number | null;
            /**
             * Origin
             * @description Whose file serves the name.
             * @enum {string}
             */
            origin: "operator" | "shipped";
            /**
             * Run Version
             * @description What new runs use, subtrees included: `tree.version` of a run; null if no version was ever valid.
             */
            run_version: string | null;
            /** @description Those of the last 24 hours that named it; for operators everybody's. */
            runs_of_day: components["schemas"]["TreeRuns"];
            /**
             * Shadows
             * @description It takes the place of a tree of the same name in another folder.
             */
            shadows: boolean;
            /** @description With the trees of now; null if they were not tested since then. */
            tested: components["schemas"]["TestedTree"] | null;
            /**
             * Used By
             * @description The trees that include it, directly or not.
             */
            used_by: string[];
            /** @description Of what new runs use; null if it was not verified since then. */
            verified: components["schemas"]["VerifiedTree"] | null;
            /**
             * Version
             * @description Of the present file: SHA-256 of its bytes; null if it cannot be read.
             */
            version: string | null;
            /**
             * Version Count
             * @description For operators; null for others.
             */
            version_count: number | null;
            /** Warning Count */
            warning_count: number;
        };
        /**
         * TreeHover
         * @description What a word of a tree file means.
         */
        TreeHover: {
            /**
             * Markdown
             * @description Null if there is nothing to say about it.
             */
            markdown: string | null;
        };
        /**
         * TreeList
         * @description The trees, by name.
         */
        TreeList: {
            /**
             * Folder
             * @description For operators: where trees are saved; read before the shipped ones.
             */
            folder: string | null;
            /**
             * Problem
             * @description For operators: why the folders cannot be read at present.
             */
            problem: string | null;
            /** Trees */
            trees: components["schemas"]["TreeHead"][];
        };
        /**
         * TreeMistake
         * @description A mistake in a tree file, with its place.
         */
        TreeMistake: {
            /** Code */
            code: string;
            /**
             * Column
             * @description From 1, in characters.
             */
            column: number;
            /** End Column */
            end_column: number | null;
            /** End Line */
            end_line: number | null;
            /**
             * File
             * @description The name of the file: `follow_signal.yaml`.
             */
            file: string;
            /**
             * Fixes
             * @description The best one first. A check also offers declarations and silences.
             */
            fixes: components["schemas"]["FixBody"][];
            /** Hint */
            hint: string | null;
            /**
             * Line
             * @description From 1.
             */
            line: number;
            /** Message */
            message: string;
            /**
             * Path
             * @description The node that it concerns.
             */
            path: string | null;
            /**
             * Severity
             * @enum {string}
             */
            severity: "error" | "warning";
        };
        /**
         * TreeMistakes
         * @description Why a tree is not saved: all mistakes that it would bring, in its file and in those that include it.
         */
        TreeMistakes: {
            /** Detail */
            detail: components["schemas"]["TreeMistake"][];
        };
        /**
         * TreeNode
         * @description A node of a tree; its index in the list is the one that ticks of its runs have.
         */
        TreeNode: {
            /** Column */
            column: number;
            /**
             * File
             * @description The name of the file that it stands in.
             */
            file: string;
            /** Kind */
            kind: string;
            /** Line */
            line: number;
            /** Name */
            name: string | null;
            /** Path */
            path: string;
        };
        /**
         * TreePlace
         * @description A place in a tree file; line and column count from 1, the end is behind the last character.
         */
        TreePlace: {
            /** Column */
            column: number;
            /** End Column */
            end_column: number;
            /** End Line */
            end_line: number;
            /**
             * File
             * @description The name of the file: `follow_signal.yaml`.
             */
            file: string;
            /** Line */
            line: number;
            /**
             * Tree
             * @description The tree whose file it is; that of the text where none was named is `new`.
             */
            tree: string;
        };
        /**
         * TreePlaces
         * @description Where a name is declared.
         */
        TreePlaces: {
            /**
             * Places
             * @description Empty for what the service declares, and where there is no name.
             */
            places: components["schemas"]["TreePlace"][];
        };
        /**
         * TreePresent
         * @description A tree that exists, and perhaps another text of it.
         */
        TreePresent: {
            /**
             * Name
             * @description The tree.
             */
            name: string;
            /**
             * Source
             * @description The whole text that its file would have; left out: its present one.
             */
            source?: string | null;
        };
        /**
         * TreeProof
         * @description A tree, or a text of it, and how much of its behaviour is explored.
         */
        TreeProof: {
            /**
             * Name
             * @description The tree.
             */
            name: string;
            /**
             * Of
             * @description The tree that is explored with the text in place; the same if it is left out.
             */
            of?: string | null;
            /**
             * Source
             * @description The whole text that its file would have; left out: its present one.
             */
            source?: string | null;
            /**
             * States
             * @description Where the exploration stops.
             */
            states?: number;
            /**
             * Turns
             * @description The most LLM turns of a run.
             */
            turns?: number;
        };
        /**
         * TreeRefusal
         * @description Mistakes in the tree, or in the request itself.
         */
        TreeRefusal: components["schemas"]["TreeMistakes"] | components["schemas"]["InvalidRequest"];
        /**
         * TreeReplay
         * @description A text of a tree, and how many recorded queries it is tried on.
         */
        TreeReplay: {
            /**
             * Name
             * @description The tree.
             */
            name: string;
            /**
             * Run Id
             * @description This query alone.
             */
            run_id?: string | null;
            /**
             * Runs
             * @description The latest N queries of each tree that it concerns.
             */
            runs?: number;
            /**
             * Source
             * @description The whole text that its file would have.
             */
            source: string;
        };
        /**
         * TreeRuns
         * @description How many queries have ended how.
         */
        TreeRuns: {
            /** Completed */
            completed: number;
            /**
             * Failed
             * @description By an error, or by tool errors in a row.
             */
            failed: number;
            /** Running */
            running: number;
            /**
             * Stopped
             * @description By a limit, because they were stuck, or by the user.
             */
            stopped: number;
        };
        /**
         * TreeSave
         * @description A text of a tree.
         */
        TreeSave: {
            /**
             * Note
             * @description Why; kept with the version.
             */
            note?: string | null;
            /**
             * Source
             * @description The whole text of the file; it is kept exactly.
             */
            source: string;
            /**
             * Version
             * @description `version` of the tree as it was read; null for a tree that does not exist yet.
             */
            version: string | null;
        };
        /**
         * TreeTest
         * @description The scenarios, with the text in place.
         */
        TreeTest: {
            /** Files */
            files: components["schemas"]["ScenarioFile"][];
            /** Passed */
            passed: boolean;
        };
        /**
         * TreeText
         * @description A text to be checked.
         */
        TreeText: {
            /**
             * Name
             * @description The tree whose file it would be: the trees that include it are checked with it.
             */
            name?: string | null;
            /**
             * Source
             * @description The whole text of a tree file.
             */
            source: string;
        };
        /**
         * TreeTextBody
         * @description The text of a version.
         */
        TreeTextBody: {
            /** Name */
            name: string;
            /** Source */
            source: string;
            /** Version */
            version: string;
        };
        /**
         * TreeVerification
         * @description All behaviours of a tree with a text in place, as far as they were explored.
         */
        TreeVerification: {
            bounds: components["schemas"]["VerifiedWithin"];
            /** Ends */
            ends: number;
            /** Megabytes */
            megabytes: number;
            /** Properties */
            properties: components["schemas"]["VerifiedProperty"][];
            /** Seconds */
            seconds: number;
            /** States */
            states: number;
            /** Transitions */
            transitions: number;
            /** Tree */
            tree: string;
            /**
             * Verdict
             * @description The worst of all.
             * @enum {string}
             */
            verdict: "proven" | "refuted" | "not_decided";
        };
        /**
         * TreeVersionBody
         * @description The tree that drives a run; a decision tree in Python has no version.
         */
        TreeVersionBody: {
            /** Name */
            name: string;
            /** Version */
            version: string | null;
        };
        /**
         * TreeVersionNow
         * @description The version that an edit was made from.
         */
        TreeVersionNow: {
            /**
             * Note
             * @description Why; kept with the version.
             */
            note?: string | null;
            /**
             * Version
             * @description `version` of the tree as it was read; null for a tree that does not exist yet.
             */
            version: string | null;
        };
        /**
         * TreeWord
         * @description A text that is being typed, and a place in it.
         */
        TreeWord: {
            /**
             * Column
             * @description Of a character of the word, from 1.
             */
            column: number;
            /**
             * Line
             * @description From 1.
             */
            line: number;
            /**
             * Name
             * @description The tree whose file it would be: the trees that include it are checked with it.
             */
            name?: string | null;
            /**
             * Source
             * @description The whole text of a tree file.
             */
            source: string;
        };
        /**
         * TurnFacts
         * @description A turn of the model.
         *
         *     Args:
         *         n: 1, 2, 3, … in the order in which they began, those that failed among them.
         *         node: that asked for it; `None` if it is not known, or no tree drove the run.
         *         began_tick: the tick that asked for it.
         *         ended_tick: the tick that got its outcome; `None` while it is under way, and where there are no ticks.
         *         ended_s: `None` while it is under way, or if its process ended before it.
         *         first_text_ms: from the request to the first visible text; `None` if there was none or it is not known.
         *         visible: it is part of the answer; not the turn of a subagent.
         *         interrupted: it was stopped before its end.
         *         calls: the ids of the tool calls that it asked for.
         *         server_tools: names of the tools that the provider has run itself.
         *         signal: the one that counts, else the first malformed one; `None` also for a response that is not whole.
         *         other_signals: all others of the response, in order.
         *         answer: the raw response, signal included; `None` if it was deleted, or there is none yet.
         */
        TurnFacts: {
            /** Answer */
            answer?: string | null;
            /** Began S */
            began_s: number;
            /** Began Tick */
            began_tick: number;
            /** Calls */
            calls?: string[];
            /** Cut Off */
            cut_off?: boolean;
            /** Ended S */
            ended_s: number | null;
            /** Ended Tick */
            ended_tick: number | null;
            /** Error */
            error?: string;
            /** Estimated */
            estimated?: boolean;
            /** First Text Ms */
            first_text_ms?: number | null;
            /** Input Tokens */
            input_tokens?: number;
            /** Interrupted */
            interrupted?: boolean;
            /** Model */
            model?: string;
            /** N */
            n: number;
            /** Node */
            node: number | null;
            /** Other Signals */
            other_signals?: components["schemas"]["SignalFacts"][];
            /** Output Tokens */
            output_tokens?: number | null;
            request?: components["schemas"]["RequestFacts"] | null;
            /** Server Tools */
            server_tools?: string[];
            signal?: components["schemas"]["SignalFacts"] | null;
            /** Stop Reason */
            stop_reason?: string | null;
            /** Tokens */
            tokens?: number;
            /** Visible */
            visible?: boolean;
        };
        /**
         * TurnList
         * @description Turns of the model, oldest first.
         */
        TurnList: {
            /**
             * Next
             * @description The `after` of the next page; null if there are no more turns yet.
             */
            next: number | null;
            /** Run Id */
            run_id: string;
            /** Turns */
            turns: components["schemas"]["TurnFacts"][];
        };
        /**
         * UserMessage
         * @description A question.
         */
        UserMessage: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /** Content */
            content: string;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * N
             * @description 1, 2, 3, … in the conversation.
             */
            n: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            role: "user";
            /**
             * Run Id
             * @description The query that it belongs to.
             */
            run_id: string;
            /**
             * Timestamp
             * @description The same as `at`.
             */
            timestamp: string;
            /**
             * Tool Calls
             * @description The calls of its run, if the run has no answer.
             */
            tool_calls: components["schemas"]["ToolUse"][];
        };
        /**
         * ValueDifference
         * @description A value that differs; `None` also where there is none.
         */
        ValueDifference: {
            /** Name */
            name: string;
            /** New */
            new: unknown;
            /** Old */
            old: unknown;
        };
        /**
         * VerifiedProperty
         * @description The verdict on one property, or on one rule of the tree.
         */
        VerifiedProperty: {
            /** Is Rule */
            is_rule: boolean;
            /** Name */
            name: string;
            /**
             * Other Stories
             * @description Further ones, in which other nodes lead to it; two at most.
             */
            other_stories: string[][];
            /**
             * Problem
             * @description What is wrong, or why it is not decided; empty if it is proven.
             */
            problem: string;
            /**
             * Story
             * @description The shortest counterexample, by lines.
             */
            story: string[] | null;
            /** Text */
            text: string;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "proven" | "refuted" | "not_decided";
        };
        /**
         * VerifiedTree
         * @description The strongest verdict on all behaviours of a tree: a counterexample, or that of the most turns.
         */
        VerifiedTree: {
            /**
             * At
             * @description ISO 8601, UTC.
             */
            at: string;
            /**
             * States
             * @description How many states were explored.
             */
            states: number;
            /**
             * Stopped At
             * @description What has stopped the exploration; null if it is complete.
             */
            stopped_at: string | null;
            /**
             * Turns
             * @description The most turns of a run that was explored.
             */
            turns: number;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "proven" | "refuted" | "not_decided";
        };
        /**
         * VerifiedWithin
         * @description The bounds of an exploration.
         */
        VerifiedWithin: {
            /**
             * Stopped At
             * @description What has stopped it; null if it is complete.
             */
            stopped_at: string | null;
            /** Turns */
            turns: number;
        };
        /**
         * VisitFacts
         * @description One step of one node in a tick.
         *
         *     Args:
         *         status: that it returned.
         *         parent: the node that ticked it.
         *         decider: the child that decided its status; `None`: the node itself.
         *         text: what it says, as a phrase: `5 of 10 turns`.
         *         sentence: what it says, as a sentence; empty if it has none.
         *         writes: the keys that it wrote, with their values.
         */
        VisitFacts: {
            /** Decider */
            decider: number | null;
            /** Errors */
            errors?: string[];
            /** Evaluations */
            evaluations?: components["schemas"]["EvaluationFacts"][];
            /** Figures */
            figures?: components["schemas"]["FigureFacts"][];
            /** Node */
            node: number;
            /** Parent */
            parent: number | null;
            /** Sentence */
            sentence?: string;
            /**
             * Status
             * @enum {string}
             */
            status: "SUCCESS" | "FAILURE" | "RUNNING" | "INVALID";
            /** Text */
            text?: string;
            /** Writes */
            writes?: [
                string,
                unknown
            ][];
        };
        /**
         * WholeAnswer
         * @description A query's answer as one object.
         */
        WholeAnswer: {
            /** Answer */
            answer: string;
            /** Context Id */
            context_id: string;
            /**
             * Error
             * @description What failed; only with the reason `error`.
             */
            error?: string | null;
            /**
             * Error Type
             * @description The kind of failure; only with the reason `error`.
             */
            error_type?: ("provider_auth" | "provider_overloaded" | "provider_failed" | "provider_refused" | "context_too_large" | "tree_failed" | "service_stopping" | "interrupted" | "internal") | null;
            /** Model Used */
            model_used: string;
            /** Run Id */
            run_id: string;
            /** Sources */
            sources: components["schemas"]["Source"][];
            /** System Messages */
            system_messages: components["schemas"]["SystemChunk"][];
            /**
             * Termination Reason
             * @enum {string}
             */
            termination_reason: "user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck";
            /** Tokens Estimated */
            tokens_estimated: boolean;
            /** Tokens Used */
            tokens_used: number;
            /** Turns */
            turns: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_breakpoints: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BreakpointList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    set_breakpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakpointNew"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BreakpointBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    remove_breakpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                breakpoint_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    change_breakpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                breakpoint_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakpointChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BreakpointBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    answer_query: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name of this request, so that it can be sent again; kept for 24 hours. */
                "Idempotency-Key"?: string | null;
                /** @description The trace that the run is to be part of (W3C Trace Context), where traces are on; an invalid one is ignored. */
                traceparent?: string | null;
                /** @description Passed on beside `traceparent`; an invalid one is ignored. */
                tracestate?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QueryRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description The run's address. */
                    Location?: string;
                    /** @description The run's name. */
                    "X-Run-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeAnswer"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    list_conversations: {
        parameters: {
            query?: {
                /** @description A conversation's name; only those that follow it. */
                before?: string | null;
                limit?: number;
                /** @description Only those with this label. */
                project_id?: string | null;
                /** @description Only those whose title or questions hold this text. */
                search?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_conversation: {
        parameters: {
            query?: {
                /** @description `next` of the answer before: only earlier messages. */
                before?: number | null;
                limit?: number;
            };
            header?: never;
            path: {
                context_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    forget_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                context_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    rename_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                context_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TitleChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationHead"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    fork_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                context_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationHead"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelAnswer"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_source: {
        parameters: {
            query: {
                /** @description How many lines, at most. */
                after?: number;
                /** @description How many lines, at most. */
                before?: number;
                /** @description Left out: the beginning. */
                line?: number | null;
                /** @description As the run has cited it. */
                path: string;
                /** @description As the run has cited it. */
                source_type: "code" | "vault" | "thread";
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceText"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    resume_run: {
        parameters: {
            query?: {
                /** @description The same, for clients that set no headers. */
                after?: string | null;
            };
            header?: {
                /** @description The id of the last event seen; goes before `after`. */
                "Last-Event-ID"?: string | null;
            };
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chunks after the last id, then live ones, until `done`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 1
                     *     data: {"type":"content","content":"It begins in "}
                     *
                     *     id: 2
                     *     data: {"type":"content","content":"login.py."}
                     *
                     *     id: 3
                     *     data: {"type":"done","termination_reason":"completed","tokens_used":812,"tokens_estimated":false,"model_used":"offline-extractive","context_id":"5d1c…","run_id":"9f0e…","turns":1}
                     */
                    "text/event-stream": unknown;
                };
            };
            /** @description The last id was that of `done`: there is nothing more. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    stream_query: {
        parameters: {
            query?: {
                /** @description The same, for clients that set no headers. */
                after?: string | null;
            };
            header?: {
                /** @description A name of this request, so that it can be sent again; kept for 24 hours. */
                "Idempotency-Key"?: string | null;
                /** @description The id of the last event seen; goes before `after`. */
                "Last-Event-ID"?: string | null;
                /** @description The trace that the run is to be part of (W3C Trace Context), where traces are on; an invalid one is ignored. */
                traceparent?: string | null;
                /** @description Passed on beside `traceparent`; an invalid one is ignored. */
                tracestate?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QueryRequest"];
            };
        };
        responses: {
            /** @description Server-sent events, ids 1, 2, 3, …; the last one is `done`. */
            200: {
                headers: {
                    /** @description The run's address. */
                    Location?: string;
                    /** @description The run's name. */
                    "X-Run-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 1
                     *     data: {"type":"content","content":"It begins in "}
                     *
                     *     id: 2
                     *     data: {"type":"content","content":"login.py."}
                     *
                     *     id: 3
                     *     data: {"type":"done","termination_reason":"completed","tokens_used":812,"tokens_estimated":false,"model_used":"offline-extractive","context_id":"5d1c…","run_id":"9f0e…","turns":1}
                     */
                    "text/event-stream": unknown;
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description A run's name; only older ones are listed. */
                before?: string | null;
                /** @description Only those of this conversation. */
                context_id?: string | null;
                /** @description With `counts`; if it is left out, on the first page alone. */
                counts?: boolean | null;
                /** @description Only those in which a node has raised an exception. */
                errors?: boolean;
                limit?: number;
                /** @description Only those that have ended so; given several times: in one of these ways. */
                reason?: ("user_cancelled" | "completed" | "max_iterations" | "token_budget" | "timeout" | "no_progress" | "error_limit" | "error" | "stuck")[] | null;
                /** @description Only those whose question has all these words, in any order; or whose id begins so. */
                search?: string | null;
                /** @description For operators: the runs that shadow another one, in place of what users have asked. */
                shadows?: boolean;
                /** @description ISO 8601; without an offset it is UTC. */
                since?: string | null;
                /** @description Only those that took so many seconds, or have taken them so far. */
                slow?: number | null;
                /** @description Only those that are under way, or that have ended. */
                status?: ("running" | "finished") | null;
                /** @description Only those of this tree. */
                tree?: string | null;
                /** @description ISO 8601; without an offset it is UTC. */
                until?: string | null;
                /** @description For operators: only this user's. */
                user?: string | null;
                /** @description Only those whose tree has a version that begins so. */
                version?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    compare_runs: {
        parameters: {
            query: {
                /** @description The other run. */
                with: string;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunComparison"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_debug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DebugBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    debug_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DebugSimple"] | components["schemas"]["DebugSet"] | components["schemas"]["DebugForce"];
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DebugBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    export_run: {
        parameters: {
            query?: {
                /** @description `json`: all of it; `html`: a page that shows it; the others: its tree. */
                format?: "json" | "html" | "svg" | "dot" | "mermaid";
                /** @description With what people, the model and tools wrote. */
                texts?: boolean;
                /** @description That a picture shows, and a page first; else the one of the end. */
                tick?: number | null;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, as an attachment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "image/svg+xml": unknown;
                    "text/html; charset=utf-8": unknown;
                    "text/plain; charset=utf-8": unknown;
                    "text/vnd.graphviz; charset=utf-8": unknown;
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_history: {
        parameters: {
            query?: {
                /** @description Only what follows this tick: `next` of the answer before. */
                after?: number;
                /** @description With `tree` and `keys`; if it is left out, on the first page alone. */
                head?: boolean | null;
                limit?: number;
                /** @description The greatest size of the items of a page, in bytes; one that is larger has a page of its own. */
                max_bytes?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_signals: {
        parameters: {
            query?: {
                /** @description `next` of the answer before. */
                after?: number;
                limit?: number;
                /** @description The greatest size of the items of a page, in bytes; one that is larger has a page of its own. */
                max_bytes?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_ticks: {
        parameters: {
            query?: {
                /** @description `next` of the answer before. */
                after?: number;
                limit?: number;
                /** @description The greatest size of the items of a page, in bytes; one that is larger has a page of its own. */
                max_bytes?: number;
                /** @description With what explains each tick: `decision`, `visits`, … */
                reasons?: boolean;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TickList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    watch_ticks: {
        parameters: {
            query?: {
                /** @description The same, for clients that set no headers. */
                after?: string | null;
                /** @description With what explains each tick: `decision`, `visits`, …; without, nothing is repeated, which costs far less. */
                reasons?: boolean;
            };
            header?: {
                /** @description The id of the last event seen; goes before `after`. */
                "Last-Event-ID"?: string | null;
            };
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ticks after the last id, then live ones, and the end. An id is the number of its tick. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 1
                     *     data: {"type":"tick","tick":{"tick":1,"at_s":0.0,"cause":"start","visits":[]},"omitted_visits":0,"turns":[]}
                     *
                     *     id: 2
                     *     data: {"type":"end","end":{"reason":"completed","tick":1,"node":7,"sentence":"…"},"turns":[],"texts":[]}
                     */
                    "text/event-stream": unknown;
                };
            };
            /** @description The last id was that of the end: there is nothing more. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_run_tree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunTree"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_turns: {
        parameters: {
            query?: {
                /** @description Only what follows this tick: `next` of the answer before. */
                after?: number;
                limit?: number;
                /** @description The greatest size of the items of a page, in bytes; one that is larger has a page of its own. */
                max_bytes?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The texts of the run have been deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_settings: {
        parameters: {
            query?: {
                /** @description The tree that would answer; `effective` is as it allows. */
                tree?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSettings"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    change_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Limits"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSettings"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    reset_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSettings"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    list_shadow_pairs: {
        parameters: {
            query?: {
                /** @description `next` of the answer before. */
                after?: string | null;
                limit?: number;
                primary?: string | null;
                shadow?: string | null;
                /** @description ISO 8601; without an offset it is UTC. */
                since?: string | null;
                /** @description Only those whose question named this tree, or that one of the two controls is a version of. */
                tree?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_shadow_report: {
        parameters: {
            query?: {
                /** @description ISO 8601; without an offset it is UTC. */
                since?: string | null;
                /** @description Only those whose question named this tree, or that one of the two controls is a version of. */
                tree?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShadowReport"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    list_trees: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_tree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    save_tree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeSave"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The edit was not made from the present version, or the folder cannot be written. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeConflict"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description All mistakes of the tree and of those that include it; nothing is saved. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeRefusal"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    count_answers: {
        parameters: {
            query?: {
                /** @description The latest so many runs. */
                runs?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeAnswersBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    list_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeEditList"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    read_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                sha: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeTextBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    restore_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                sha: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeVersionNow"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeBody"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The edit was not made from the present version, or the folder cannot be written. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeConflict"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description All mistakes of the tree and of those that include it; nothing is saved. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeRefusal"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    check_tree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeText"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeCheck"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    compare_trees: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeReplay"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeComparison"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    complete_tree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeCursor"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeCompletions"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    find_definition: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeWord"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreePlaces"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    hover_tree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeWord"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeHover"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    try_scenarios: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreePresent"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeTest"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    verify_tree: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TreeProof"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeVerification"];
                };
            };
            /** @description The request cannot be parsed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description A valid bearer token is required. */
            401: {
                headers: {
                    /** @description Bearer */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Only operators may do this, or the request comes from a page of another origin. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Not found, or owned by another user. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body was not complete in time. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The conversation is answering another query. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description Too many requests or running queries; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description An internal error. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
            /** @description The service is stopping, or its store is unavailable; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
    check_liveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
        };
    };
    read_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus' text format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
        };
    };
    check_readiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Everything that is wrong with the request. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvalidRequest"];
                };
            };
            /** @description It takes no queries for now. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorAnswer"];
                };
            };
        };
    };
}
