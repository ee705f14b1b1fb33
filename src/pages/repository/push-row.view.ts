import type { RecentPush } from '../../repositories/index.ts';
import type { AvatarView } from '../app/avatar.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryAvatar } from '../app/repository-avatar.view.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';
import { personUrl, repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { noRef, shortRef } from '../../kernel/index.ts';

/** One push in an activity list: `bob pushed to main`. */
interface PushRowView {
  repository: { name: string; url: string };
  avatar: AvatarView;
  /** Null for a push from the command line, or by a deleted account. */
  person: { name: string; url: string } | null;
  /** `deploy key web-server`, instead of a user. */
  deployKey: string | null;
  /** `pushed to main`, `created the tag v1`, `pushed to 3 branches and tags`. */
  what: string;
  at: TimeView;
}

function describe({ updates: [update], updateCount }: Pick<RecentPush, 'updates' | 'updateCount'>): string {
  if (update === undefined || updateCount > 1)
    return t('repository.push_row.pushed_to_several', { count: updateCount });
  const name = viewName(shortRef(update.ref));
  const kind = update.ref.startsWith('refs/tags/') ? 'tag' : update.ref.startsWith('refs/heads/') ? 'branch' : 'other';
  if (noRef.test(update.newId)) return t('repository.push_row.deleted', { kind, name });
  if (noRef.test(update.oldId)) return t('repository.push_row.created', { kind, name });
  return t('repository.push_row.pushed_to', { name });
}

export function viewPushRow(push: RecentPush, now: number): PushRowView {
  const { repository, person, deployKey, at } = push;
  const address = { owner: repository.owner.handle, name: repository.name };
  return {
    repository: { name: `${address.owner}/${address.name}`, url: repositoryUrl(address) },
    avatar: viewRepositoryAvatar(repository, repository.owner),
    person: person?.username == null ? null : { name: person.username, url: personUrl(person.username) },
    deployKey: deployKey === null ? null : t('repository.push_row.deploy_key', { name: viewName(deployKey) }),
    what: describe(push),
    at: viewTime(at, now),
  };
}
