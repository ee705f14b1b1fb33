import type { Issue } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';

/** Entries per issue page, as on the website. */
const entriesPerPage = 200;

/** URLs in mails, on the public origin of this server, without a trailing slash. */
export function mailUrls(baseUrl: string) {
  const repository = ({ owner, repository: { name } }: Located): string =>
    `${baseUrl}/repos/${encodeURIComponent(owner.handle)}/${encodeURIComponent(name)}`;
  return {
    host: new URL(baseUrl).hostname,
    repository,
    /** An issue or pull request at one of its entries. */
    entry(place: Located, { kind, number }: Pick<Issue, 'kind' | 'number'>, position: number): string {
      const from = Math.floor(position / entriesPerPage) * entriesPerPage;
      const part = kind === 'PULL' ? 'pulls' : 'issues';
      const page = `${repository(place)}/${part}/${number}${from === 0 ? '' : `?from=${from}`}`;
      return position === 0 ? page : `${page}#e${position}`;
    },
    /** Changes of a pull request since a round. */
    changesSince: (place: Located, number: number, round: number): string =>
      `${repository(place)}/pulls/${number}/changes?from=${round}`,
    run: (place: Located, number: number): string => `${repository(place)}/runs/${number}`,
    release: (place: Located, tag: string): string =>
      `${repository(place)}/releases/tag/${tag.split('/').map(encodeURIComponent).join('/')}`,
    inbox: `${baseUrl}/notifications`,
    settings: `${baseUrl}/settings/notifications`,
    unsubscribe: (token: string): string => `${baseUrl}/notifications/unsubscribe?token=${token}`,
  };
}

export type MailUrls = ReturnType<typeof mailUrls>;
