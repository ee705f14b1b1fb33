/** A language, recognised by file names only; content is never examined. */
interface Language {
  name: string;
  /** Its name in the highlighter; null without a grammar. */
  grammar: string | null;
  /** Colour in the language bar; legible as a small area on white and on near-black. */
  colour: string;
  /** Whether it counts as source code, rather than as text or data. */
  isProgramming: boolean;
}

/** name, grammar, colour, extensions and whole file names. */
const programming: [string, string | null, string, string][] = [
  ['Ada', 'ada', '#2b9c55', 'adb ads'],
  ['Assembly', 'x86asm', '#8a6a3f', 'asm s S nasm'],
  ['Awk', 'awk', '#9c5b3c', 'awk'],
  ['C', 'c', '#6b7280', 'c h'],
  ['C#', 'csharp', '#2f8f3a', 'cs csx'],
  ['C++', 'cpp', '#d4537e', 'cc cpp cxx hh hpp hxx c++ h++ ino'],
  ['Clojure', 'clojure', '#c9485b', 'clj cljs cljc edn'],
  ['CMake', 'cmake', '#b3552e', 'cmake CMakeLists.txt'],
  ['CoffeeScript', 'coffeescript', '#4c6a91', 'coffee'],
  ['Crystal', 'crystal', '#5a6378', 'cr'],
  ['CSS', 'css', '#7a56b8', 'css'],
  ['D', 'd', '#b0413e', 'd'],
  ['Dart', 'dart', '#1f93a8', 'dart'],
  ['Dockerfile', 'dockerfile', '#3c6e84', 'dockerfile Dockerfile Containerfile'],
  ['Elixir', 'elixir', '#7d5a8c', 'ex exs'],
  ['Elm', 'elm', '#4f9db8', 'elm'],
  ['Emacs Lisp', 'lisp', '#9a5fc0', 'el'],
  ['Erlang', 'erlang', '#b4476b', 'erl hrl'],
  ['F#', 'fsharp', '#9a4fc4', 'fs fsi fsx'],
  ['Fortran', 'fortran', '#6a53a8', 'f f77 f90 f95 f03'],
  ['GLSL', 'glsl', '#5686a5', 'glsl vert frag'],
  ['Go', 'go', '#1c9cc0', 'go'],
  ['GraphQL', 'graphql', '#cf3f93', 'graphql gql'],
  ['Groovy', 'groovy', '#4b8cb0', 'groovy gradle Jenkinsfile'],
  ['Haskell', 'haskell', '#6c5b9c', 'hs lhs'],
  ['HCL', null, '#6f54b8', 'hcl tf'],
  ['HTML', 'xml', '#d9532c', 'html htm xhtml'],
  ['Java', 'java', '#b5762a', 'java'],
  ['JavaScript', 'javascript', '#bd9a17', 'js mjs cjs jsx'],
  ['Julia', 'julia', '#9558b2', 'jl'],
  ['Kotlin', 'kotlin', '#8b5fd1', 'kt kts'],
  ['Less', 'less', '#3f5f96', 'less'],
  ['Lisp', 'lisp', '#4f9a5b', 'lisp lsp cl'],
  ['Lua', 'lua', '#4355a8', 'lua'],
  ['Makefile', 'makefile', '#4c8a26', 'mk mak Makefile makefile GNUmakefile'],
  ['MATLAB', 'matlab', '#c8622b', 'm'],
  ['Nim', 'nim', '#b39b2e', 'nim nims'],
  ['Nix', 'nix', '#6f82d8', 'nix'],
  ['Objective-C', 'objectivec', '#4a8ad8', 'mm'],
  ['OCaml', 'ocaml', '#d4792b', 'ml mli'],
  ['Pascal', 'delphi', '#a8a03a', 'pas pp dpr'],
  ['Perl', 'perl', '#3f8fb5', 'pl pm t'],
  ['PHP', 'php', '#6470a8', 'php phtml'],
  ['PowerShell', 'powershell', '#3f6fa8', 'ps1 psm1 psd1'],
  ['Prolog', 'prolog', '#7c6b3c', 'pro'],
  ['Protocol Buffers', 'protobuf', '#58838f', 'proto'],
  ['Pug', null, '#a86f50', 'pug jade'],
  ['Python', 'python', '#3a76b0', 'py pyi pyw'],
  ['R', 'r', '#3f83c4', 'r R'],
  ['Ruby', 'ruby', '#b02c33', 'rb rake gemspec Rakefile Gemfile'],
  ['Rust', 'rust', '#b8693f', 'rs'],
  ['Sass', 'scss', '#c2568f', 'scss sass'],
  ['Scala', 'scala', '#c4414a', 'scala sc sbt'],
  ['Scheme', 'scheme', '#4f6ac0', 'scm ss rkt'],
  ['Shell', 'bash', '#5f9c3f', 'sh bash zsh ksh fish .bashrc .zshrc .profile'],
  ['SQL', 'sql', '#c9822b', 'sql'],
  ['Svelte', 'xml', '#d8522b', 'svelte'],
  ['Swift', 'swift', '#d9582f', 'swift'],
  ['Tcl', 'tcl', '#a88c3a', 'tcl'],
  ['TypeScript', 'typescript', '#3a78c2', 'ts mts cts tsx'],
  ['Verilog', 'verilog', '#8f9c3a', 'v sv svh'],
  ['VHDL', 'vhdl', '#8a7cb0', 'vhd vhdl'],
  ['Vim Script', 'vim', '#3f8f4a', 'vim .vimrc'],
  ['Visual Basic', 'vbnet', '#7a56b0', 'vb'],
  ['Vue', 'xml', '#3f9c74', 'vue'],
  ['XSLT', 'xml', '#d0605a', 'xsl xslt'],
  ['Zig', null, '#c98a2b', 'zig'],
];

const surrounding: [string, string | null, string, string][] = [
  ['AsciiDoc', 'asciidoc', '#7a8a6a', 'adoc asciidoc'],
  ['Diff', 'diff', '#7a7a7a', 'diff patch'],
  ['Git settings', 'ini', '#c2562d', '.gitconfig .gitmodules .editorconfig'],
  ['INI', 'ini', '#8a8a5a', 'ini cfg conf properties toml'],
  ['JSON', 'json', '#6a7a3a', 'json json5 jsonc webmanifest'],
  ['LaTeX', 'latex', '#3f6a3f', 'tex sty cls'],
  ['Markdown', 'markdown', '#4a6a8a', 'md markdown mkd'],
  ['Nginx', 'nginx', '#3f8a4a', 'nginx'],
  ['XML', 'xml', '#3f7ac0', 'xml xsd svg plist rss atom'],
  ['YAML', 'yaml', '#b04a4a', 'yml yaml'],
];

/** The extensions and whole names of the files of a language, by its folded name. */
const endingsByTitle = new Map<string, readonly string[]>();
const byEnding = new Map<string, Language>();
const byName = new Map<string, Language>();
const byTitle = new Map<string, Language>();
for (const [rows, isProgramming] of [
  [programming, true],
  [surrounding, false],
] as const) {
  for (const [name, grammar, colour, endings] of rows) {
    const language: Language = { name, grammar, colour, isProgramming };
    byTitle.set(name.toLowerCase(), language);
    endingsByTitle.set(name.toLowerCase(), endings.split(' '));
    for (const ending of endings.split(' ')) {
      // An entry that begins with a capital or a dot is a whole file name, except the extensions `S` and `R`.
      byEnding.set(ending, language);
      if (/^\.|^[A-Z].|^makefile$/.test(ending)) byName.set(ending, language);
    }
  }
}

/** The language of a file by its name; null when it is unknown. */
export function languageOf(fileName: string): Language | null {
  const name = fileName.slice(fileName.lastIndexOf('/') + 1);
  const whole = byName.get(name);
  if (whole) return whole;
  const dot = name.lastIndexOf('.');
  if (dot === -1) return null;
  const ending = name.slice(dot + 1);
  return byEnding.get(ending) ?? byEnding.get(ending.toLowerCase()) ?? null;
}

/** The language with this name, `C++` or `c++`; null when there is none. */
export const languageCalled = (name: string): Language | null => byTitle.get(name.toLowerCase()) ?? null;

/**
 * Extensions without a dot, and whole names, of the files of a language by its name or an extension; empty if unknown.
 */
export function fileNamesOf(name: string): readonly string[] {
  const language = languageCalled(name) ?? byEnding.get(name) ?? byEnding.get(name.toLowerCase());
  return language == null ? [] : (endingsByTitle.get(language.name.toLowerCase()) ?? []);
}
