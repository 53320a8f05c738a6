import { keysText } from "./Kbd";
import { KEY_GROUPS } from "./keymap";

/** The keys by where they work: all, or those of some groups. */
export function KeyMapTable({ groups }: { groups?: readonly string[] }) {
  return (
    <div className="[columns:2_240px] gap-x-8">
      {KEY_GROUPS.filter(({ title }) => groups?.includes(title) ?? true).map(({ title, keys }) => (
        <section key={title} className="pb-4 break-inside-avoid">
          <h3 className="mb-1.5 text-ink-3">{title}</h3>
          <dl>
            {keys.map(([combinations, does]) => (
              <div key={does} className="flex gap-3 py-0.5">
                <dt className="flex flex-[0_0_96px] items-start gap-1">
                  {combinations.map((each) => (
                    <kbd key={each} className="kbd inline-block!">
                      {keysText(each)}
                    </kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
