import { keysText } from "./Kbd";
import { KEY_GROUPS } from "./keymap";
import "./KeyMapTable.css";

/** All keys, by where they work. */
export function KeyMapTable() {
  return (
    <div className="key-map">
      {KEY_GROUPS.map(({ title, keys }) => (
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
