/** Severity of an annotation; also the name of the command that creates it. */
export const annotationLevels = ['error', 'warning', 'notice'] as const;
export type AnnotationLevel = (typeof annotationLevels)[number];

/** Commands that the index of a log counts or tracks. */
export type LogMark = AnnotationLevel | 'group' | 'endgroup';

/** A workflow command in a row of a log: `::error file=app.js,line=1::Message`, or `##[error]Message`. */
export interface LogCommand {
  name: LogMark | 'debug' | 'command';
  /** Keyed by lower-case name; values decoded. */
  properties: ReadonlyMap<string, string>;
  message: string;
}

/** Properties end at the first `::`; their values escape it. */
const doubleColon = /^::(error|warning|notice|debug|group|endgroup)(?: ((?:[^:]|:(?!:))*))?::/;
const bracket = /^##\[(error|warning|notice|debug|group|endgroup|command)\]/;

const decoded: Readonly<Record<string, string>> = { '25': '%', '0D': '\r', '0A': '\n', '3A': ':', '2C': ',' };

/** Decodes the escapes of a message or of a property, which has two more. Each escape is decoded once. */
const decode = (text: string, escapes: RegExp): string =>
  text.replace(escapes, (_, code: string) => decoded[code.toUpperCase()]!);
const ofMessage = /%(25|0D|0A)/gi;
const ofProperty = /%(25|0D|0A|3A|2C)/gi;

/** Parses the content of a log row; null if it is not a command. */
export function readLogCommand(content: string): LogCommand | null {
  if (content.startsWith('[command]')) return { name: 'command', properties: new Map(), message: content.slice(9) };
  const found = content.startsWith('::') ? doubleColon.exec(content) : bracket.exec(content);
  if (found === null) return null;
  return {
    name: found[1] as LogCommand['name'],
    properties: new Map(
      (found[2] ?? '').split(',').flatMap((pair): [string, string][] => {
        const equals = pair.indexOf('=');
        if (equals < 1) return [];
        return [[pair.slice(0, equals).trim().toLowerCase(), decode(pair.slice(equals + 1).trim(), ofProperty)]];
      }),
    ),
    message: decode(content.slice(found[0].length), ofMessage),
  };
}

const isMark = (name: string): name is LogMark => name !== 'debug' && name !== 'command';

/** The mark that the index stores for a row with this content. */
export function markOf(content: string): LogMark | null {
  const name = (content.startsWith('::') ? doubleColon : bracket).exec(content)?.[1];
  return name !== undefined && isMark(name) ? name : null;
}
