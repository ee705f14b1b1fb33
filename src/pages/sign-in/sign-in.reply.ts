import type { SignInResult } from '../../accounts/index.ts';
import type { Config } from '../../config/index.ts';
import type { NewCookie } from '../../http/index.ts';
import { challengeCookie, endedChallengeCookie, sessionCookie } from '../../http/index.ts';
import { seeOther, type Reply } from '../app/reply.ts';
import type { RequestContext } from '../app/request-context.ts';

/** The second-factor step of a sign-in. */
const secondFactorPath = (next: string): string => `/login/second-factor?next=${encodeURIComponent(next)}`;

/**
 * The end of every sign-in by a page: sets the session cookie, or shows the page for the second factor.
 * @param more further cookies to set
 */
export function replyToSignIn(
  { origin, challengeSecret }: RequestContext,
  config: Config,
  result: SignInResult,
  next: string,
  more: readonly NewCookie[] = [],
): Reply {
  if (result.kind === 'second_factor')
    return seeOther(secondFactorPath(next), { cookies: [challengeCookie(origin, result.challenge), ...more] });
  const ended = challengeSecret === null ? [] : [endedChallengeCookie(origin)];
  return seeOther(next, { cookies: [sessionCookie(origin, result.secret, config), ...ended, ...more] });
}
