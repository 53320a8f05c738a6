import { useMe } from "@/api/queries";
import { Problem } from "@/parts/Problem";

/** That no language model has answered, and what can be done about it: names of settings are for operators. */
export function OfflineNote() {
  const { data: me } = useMe();
  return (
    <div className="mt-3">
      <Problem tone="plain" title="The offline model answered.">
        It searches and quotes; it is not a language model.{" "}
        {me?.is_operator ? (
          <>
            To use one, set <code>ANTHROPIC_API_KEY</code> in the service’s environment, or in{" "}
            <code>.env</code> in its working directory, and start it again.
          </>
        ) : (
          "The operator of this service can connect one."
        )}
      </Problem>
    </div>
  );
}
