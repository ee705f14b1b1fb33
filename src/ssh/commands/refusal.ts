import { isDomainError } from '../../kernel/index.ts';
import { plainLine } from './plain-text.ts';

/** What a person sees when a command was not done: one line on stderr, and the exit status. */
export interface Refusal {
  line: string;
  exitCode: number;
  /** Something is wrong with the server, not with the request: the log gets the whole error. */
  isFault: boolean;
}

/**
 * The SSH column of the error table (DESIGN §5); no other file here looks at codes.
 * A hidden repository and an absent one give the same bytes.
 *
 * @param faultId ties the line of an internal error to its log line
 */
export function refusal(error: unknown, faultId: string): Refusal {
  if (isDomainError(error)) {
    switch (error.code) {
      case 'not_found':
        return say('repository not found');
      case 'invalid':
      case 'unauthenticated':
      case 'forbidden':
      case 'conflict':
        return say(error.message);
      case 'unavailable':
        return say(
          error.retryAfterSeconds === undefined
            ? error.message
            : `${error.message} Try again in ${error.retryAfterSeconds} seconds.`,
        );
      case 'internal':
        break;
    }
  }
  return { ...say(`internal error (${faultId})`), isFault: true };
}

function say(words: string): Refusal {
  return { line: `hearth: ${plainLine(words)}\n`, exitCode: 1, isFault: false };
}
