import { explainFullDisk, isDomainError } from '../../kernel/index.ts';
import { plainLine } from './plain-text.ts';

/** The response to a failed command: one line on stderr, and the exit status. */
interface ErrorOutput {
  line: string;
  exitCode: number;
  /** Whether it is an internal error, which is logged in full, and not a refusal. */
  isFault: boolean;
}

/**
 * Maps error codes to SSH; no other file here reads codes. Hidden and absent repositories or issues give the same
 * bytes.
 *
 * @param faultId links the line of an internal error to its log line
 */
export function errorOutput(thrown: unknown, faultId: string): ErrorOutput {
  const error = explainFullDisk(thrown);
  if (isDomainError(error)) {
    switch (error.code) {
      case 'not_found':
        // Only for repositories that the client may read, and for the client's own data.
        return say(shownReasons.has(error.reason) ? error.message : 'repository not found');
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

const shownReasons = new Set([
  'issue_not_found',
  'pull_not_found',
  'round_not_found',
  'entry_not_found',
  'notification_not_found',
]);

function say(words: string): ErrorOutput {
  return { line: `hearth: ${plainLine(words)}\n`, exitCode: 1, isFault: false };
}
