import { StringDecoder } from 'node:string_decoder';
import { invalid } from '../../kernel/index.ts';
import type { CliInput, CliOutput } from '../cli-process.ts';
import { Interrupted } from '../exit-codes.ts';

/** Asks for one line; the terminal echoes and edits the input. */
export function prompt(question: string, stdin: CliInput, stderr: CliOutput): Promise<string> {
  stderr.write(question);
  return readLine(stdin);
}

/** Asks for a line without echo. Pasting works; Backspace and Ctrl-U edit; Ctrl-C ends the command. */
export async function promptHidden(question: string, stdin: CliInput, stderr: CliOutput): Promise<string> {
  stdin.setRawMode?.(true);
  stderr.write(question);
  try {
    return await readLine(stdin);
  } finally {
    stdin.setRawMode?.(false);
    stderr.write('\n');
  }
}

/** Reads up to Enter. Control characters occur only on a raw terminal, which does not handle them. */
function readLine(stdin: CliInput): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let typed = '';
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      stdin.pause();
      settle();
    };
    const onEnd = (): void =>
      end(() => reject(invalid('no_answer', 'The input ended before the prompt was answered.')));
    const onData = (bytes: Buffer): void => {
      // Keys such as the arrows send one escape sequence, which is not text.
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
    stdin.resume();
  });
}
