import js from "@eslint/js";
import globals from "globals";
import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

/** The rooms of `src`, from the top down. A room imports from those below it; those in one row do not know each other. */
const ROOMS = [["app", "export"], ["pages"], ["source"], ["run", "stream"], ["parts"], ["api"], ["store"]];

/** What a room may not import: the rooms above it and beside it. */
const layers = ROOMS.flatMap((row, at) =>
  row.map((room) => {
    const others = ROOMS.slice(0, at + 1)
      .flat()
      .filter((each) => each !== room);
    const message = `Imports point down: src/${room} may not use this room (see ROOMS in eslint.config.js).`;
    const group = others.flatMap((each) => [`@/${each}`, `@/${each}/**`]);
    return {
      files: [`src/${room}/**/*.{ts,tsx}`],
      ignores: ["**/*.test.{ts,tsx}"], // a test may hold rooms together
      rules: {
        "no-restricted-imports": ["error", { patterns: group.length > 0 ? [{ group, message }] : [] }],
      },
    };
  }),
);

const PAGES_ALONE =
  "Pages do not know each other, and no test but their own knows them: what two of them need belongs into a room below.";

/** A page imports from its own folder and from the rooms below; its tests, too. By how deep in the folder a file is. */
const pages = [1, 2, 3].map((depth) => ({
  files: [`src/pages/${"*/".repeat(depth)}*.{ts,tsx}`],
  rules: {
    "no-restricted-imports": [
      "error",
      { patterns: [{ regex: `^(@/(app|pages)(/|$)|(\\.\\./){${depth}})`, message: PAGES_ALONE }] },
    ],
  },
}));

/** The tests of the rooms below the pages. */
const testsBelow = {
  files: ["src/**/*.test.{ts,tsx}"],
  ignores: ["src/{app,export,pages}/**"],
  rules: {
    "no-restricted-imports": [
      "error",
      { patterns: [{ regex: "^@/(app|pages)(/|$)", message: PAGES_ALONE }] },
    ],
  },
};

export default tseslint.config(
  { ignores: ["node_modules", "client/dist", "**/schema.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  hooks.configs.flat["recommended-latest"],
  a11y.flatConfigs.strict,
  {
    languageOptions: {
      globals: { ...globals.browser },
      parserOptions: {
        projectService: { allowDefaultProject: ["*.js", "scripts/*.mjs"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "no-restricted-globals": [
        "error",
        { name: "localStorage", message: "Use store/preferences: nothing secret is kept beyond the tab." },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Use parts/Markdown: it alone sets markup, and cleans it.",
        },
      ],
    },
  },
  ...layers,
  ...pages,
  testsBelow,
  {
    files: ["**/*.js", "**/*.mjs"],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { ...globals.node } },
  },
);
