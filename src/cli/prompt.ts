import { createInterface } from 'node:readline/promises';
import { StringDecoder } from 'node:string_decoder';
import { invalid } from '../kernel/index.ts';
import type { CliInput, CliOutput } from './cli-process.ts';
import { Interrupted } from './exit-codes.ts';

/**
 * Asks for a line that is not shown while it is typed. Pasting works; Backspace
 * and Ctrl-U correct; Ctrl-C ends the command.
 */
export function askHidden(question: string, stdin: CliInput, stderr: CliOutput): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let typed = '';
  stderr.write(question);
  stdin.setRawMode?.(true);
  stdin.resume();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onEnd = (): void => end(() => reject(noInput()));
    const onData = (bytes: Buffer): void => {
      // Arrow keys and the like come as one escape sequence; none of it is text.
      // eslint-disable-next-line no-control-regex
      for (const character of decoder.write(bytes).replace(/\u001b(\[[0-9;?]*[ -/]*[@-~]|.)?/g, '')) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed));
        if (character === '\u0003') return end(() => reject(new Interrupted('SIGINT')));
        if (character === '\u0004' && typed === '') return onEnd();
        if (character === '\u0015') typed = '';
        else if (character === '\u007f' || character === '\b') typed = [...typed].slice(0, -1).join('');
        else if (character >= ' ') typed += character;
      }
    };
    stdin.on('data', onData);
    stdin.on('end', onEnd);
  });
}

/** Asks for one visible line. */
export async function ask(question: string, stdin: CliInput, stderr: CliOutput): Promise<string> {
  const lines = createInterface({
    input: stdin as unknown as NodeJS.ReadStream,
    output: stderr as unknown as NodeJS.WriteStream,
    terminal: false,
  });
  try {
    stderr.write(question);
    for await (const line of lines) return line;
    throw noInput();
  } finally {
    lines.close();
  }
}

function noInput() {
  return invalid('no_answer', 'The input ended before it was answered.');
}
