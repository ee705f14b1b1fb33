import type { Command } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { examplesOf } from './help.ts';

/* The reference of all commands: a man page, and Markdown. It is generated from the definitions. */

interface Entry {
  /** `hearth user list [options]`. */
  readonly usage: string;
  readonly about: string;
  readonly details: readonly (readonly [term: string, text: string])[];
  readonly examples: readonly string[];
}

/** Every command with an action, in the order of help. */
function entries(command: Command): Entry[] {
  const helper = command.createHelp();
  const children = helper.visibleCommands(command);
  if (children.length > 0) return children.flatMap(entries);
  const options = helper.visibleOptions(command).filter(({ long }) => long !== '--help');
  return [
    {
      usage: helper.commandUsage(command),
      about: helper.commandDescription(command),
      details: [
        ...helper
          .visibleArguments(command)
          .map((one) => [helper.argumentTerm(one), helper.argumentDescription(one)] as const),
        ...options.map(
          (one) => [helper.optionTerm(one), helper.optionDescription(one).replace(' (default: false)', '')] as const,
        ),
      ],
      examples: examplesOf(command),
    },
  ];
}

const globalOptions = (program: Command): (readonly [string, string])[] => {
  const helper = program.createHelp();
  return helper
    .visibleOptions(program)
    .map((one) => [helper.optionTerm(one), helper.optionDescription(one).replace(' (default: false)', '')] as const);
};

const lead =
  'Order of precedence for settings: options, environment variables (SERVICE_…), settings file, defaults; ' +
  'hearth config show --origin shows where each value comes from. Results are written to standard output, everything else to standard error. ' +
  'Results are tables on a terminal and tab-separated lines in a pipe; with --json, every command prints JSON.';

const files: readonly (readonly [string, string])[] = [
  ['./hearth.toml, /etc/hearth/hearth.toml', 'settings file, unless --config or SERVICE_CONFIG specifies another file'],
  [
    './data',
    'data folder, unless --data-dir, SERVICE_DATA_DIR or data_dir specifies another; its README describes the contents',
  ],
];

/** The man page, section 1, in the macros of man(7). */
export function manPage(program: Command, version: string): string {
  const term = (name: string, text: string): string => `.TP\n.B ${roff(name)}\n${roff(text)}\n`;
  return (
    [
      `.TH HEARTH 1 "" "Hearth ${version}" "User Commands"`,
      `.SH NAME\nhearth \\- a self\\-hosted git forge`,
      `.SH SYNOPSIS\n.B hearth\n[options] command [arguments]`,
      `.SH DESCRIPTION\n${roff(lead)}`,
      `.SH OPTIONS OF EVERY COMMAND\n${globalOptions(program)
        .map(([name, text]) => term(name, text))
        .join('')}`,
      `.SH COMMANDS\n${entries(program)
        .map(
          ({ usage, about, details, examples }) =>
            `.SS ${roff(usage)}\n${roff(sentence(about))}\n${details.map(([name, text]) => term(name, text)).join('')}${shown(examples)}`,
        )
        .join('')}`,
      `.SH EXIT STATUS\n${exitCodes.map(([code, meaning]) => term(String(code), meaning)).join('')}`,
      `.SH FILES\n${files.map(([name, text]) => term(name, text)).join('')}`,
      `.SH EXAMPLES\n${shown(examplesOf(program))}`,
      '',
    ]
      .map((part) => part.trimEnd())
      .join('\n') + '\n'
  );
}

/** Examples are printed verbatim: no filling, no hyphenation. */
const shown = (lines: readonly string[]): string =>
  lines.length === 0 ? '' : `.PP\n.RS 4\n.nf\n${lines.map(roff).join('\n')}\n.fi\n.RE\n`;

/** Escapes text for roff: backslashes, hyphens, and dots or quotes at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
    .replaceAll('…', '...')
    .replaceAll('’', "'");
}

/** The same as a Markdown document. */
export function markdownPage(program: Command, version: string): string {
  const code = (text: string): string => `\`${text}\``;
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const table = (rows: readonly (readonly [string, string])[]): string =>
    rows.length === 0
      ? ''
      : `| | |\n|---|---|\n${rows.map(([name, text]) => `| ${code(name.replaceAll('|', '\\|'))} | ${cell(text)} |\n`).join('')}\n`;
  const block = (lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\`\`\`\n${lines.join('\n')}\n\`\`\`\n\n`;
  return (
    [
      `# hearth ${version}\n\n${lead}\n\n`,
      block(examplesOf(program)),
      `## Options of every command\n\n${table(globalOptions(program))}`,
      '## Commands\n\n',
      ...entries(program).map(
        ({ usage, about, details, examples }) =>
          `### ${code(usage)}\n\n${sentence(about)}\n\n${table(details)}${block(examples)}`,
      ),
      `## Exit status\n\n${table(exitCodes.map(([number, meaning]) => [String(number), meaning] as const))}`,
      `## Files\n\n${table(files)}`,
    ]
      .join('')
      .trimEnd() + '\n'
  );
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
