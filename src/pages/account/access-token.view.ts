import type { AccessToken } from '../../accounts/index.ts';
import { t } from '../../translation/index.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

interface AccessTokenView {
  id: string;
  name: string;
  ending: string;
  access: string;
  /** `all repositories`, `3 repositories`. */
  reach: string;
  /** Null when it never does. */
  expires: TimeView | null;
  isExpired: boolean;
  added: TimeView;
  lastUsed: TimeView | null;
  lastUsedFrom: string | null;
}

export function viewAccessToken(token: AccessToken, now: number): AccessTokenView {
  return {
    id: token.id,
    name: token.name,
    ending: token.ending,
    access: token.access,
    reach:
      token.repositoryIds === null
        ? t('account.access_token.all_repositories')
        : viewCount(token.repositoryIds.length, 'repository'),
    expires: token.expiresAt === null ? null : viewTime(token.expiresAt, now),
    isExpired: token.expiresAt !== null && token.expiresAt <= now,
    added: viewTime(token.createdAt, now),
    lastUsed: token.lastUsedAt === null ? null : viewTime(token.lastUsedAt, now),
    lastUsedFrom: token.lastUsedAddress,
  };
}
