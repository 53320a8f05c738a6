import { keysText } from "./Kbd";
import { KEY_GROUPS } from "./keymap";
import "./KeyMapTable.css";

/** The keys by where they work: all, or those of some groups. */
export function KeyMapTable({ groups }: { groups?: readonly string[] }) {
  return (
    <div className="key-map [columns:2_240px] gap-x-8">
      {KEY_GROUPS.filter(({ title }) => groups?.includes(title) ?? true).map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([combinations, does]) => (
              <div key={does}>
                <dt>
                  {combinations.map((each) => (
                    <kbd key={each} className="kbd">
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
