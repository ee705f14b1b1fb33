import type { RefListing } from '../../git/index.ts';
import type { ActivityPush, ActivityUpdate } from '../../repositories/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import type { AvatarView } from '../app/avatar.view.ts';
import { codeUrl, commitUrl, encodeRef } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { personUrl } from '../../http/index.ts';
import { branchOf, noRef, tagOf } from '../../kernel/index.ts';
import { t, translated } from '../../translation/index.ts';

/** One ref that a push moved. */
interface ActivityUpdateView {
  /** `main`; `tag v1`; a full name elsewhere. */
  name: string;
  /** Null once the ref is deleted. */
  url: string | null;
  /** Kind of change: `made`, `moved`, `deleted`, `rewritten`. */
  kind: 'created' | 'moved' | 'deleted' | 'rewritten';
  from: { text: string; url: string } | null;
  to: { text: string; url: string } | null;
  /** The range of new commits, for a branch that moved. */
  compareUrl: string | null;
  /** The fields of the restoration form; null when there is nothing to restore. */
  restore: {
    id: string;
    expected: string;
    until: TimeView;
    isBranch: boolean;
    back: boolean;
    suggestedName: string;
  } | null;
}

interface ActivityPushView {
  avatar: AvatarView | null;
  person: { name: string; url: string } | null;
  /** `deploy key web-server`, instead of a user. */
  deployKey: string | null;
  /** `over SSH`, `undone here`, `copied by the mirror`. */
  via: string;
  at: TimeView;
  updates: ActivityUpdateView[];
  /** Number of moved refs that are not shown. */
  more: number;
}

const short = (id: string): string => id.slice(0, 10);

const ways: Record<ActivityPush['via'], string> = translated({
  http: 'repository.activity_row.over_http',
  ssh: 'repository.activity_row.over_ssh',
  web: 'repository.activity_row.on_the_web',
  api: 'repository.activity_row.over_the_api',
  cli: 'repository.activity_row.on_the_command_line',
  undo: 'repository.activity_row.by_restoring',
  mirror: 'repository.activity_row.by_the_mirror',
  sync: 'repository.activity_row.by_syncing_the_fork',
  merge: 'repository.activity_row.by_a_merge',
});

/** The context of the pushes of a page. */
interface ActivityContext {
  /** URL of the repository. */
  url: string;
  /** The current ref tips. */
  refs: Pick<RefListing, 'get'>;
  pictures: ReadonlyMap<string, { avatarAt: number | null }>;
  /** Whether the viewer gets the forms. */
  mayRestore: boolean;
  now: number;
}

export function viewActivityPush(push: ActivityPush, around: ActivityContext): ActivityPushView {
  const { person } = push;
  return {
    avatar: person === null ? null : viewAvatar(person.id, around.pictures.get(person.id)?.avatarAt ?? null),
    person: person?.username == null ? null : { name: person.username, url: personUrl(person.username) },
    deployKey:
      push.deployKey === null ? null : t('repository.activity_row.deploy_key_key', { key: viewName(push.deployKey) }),
    via: ways[push.via],
    at: viewTime(push.at, around.now),
    updates: push.updates.map((update) => viewUpdate(push.id, update, around)),
    more: push.updateCount - push.updates.length,
  };
}

function viewUpdate(
  pushId: string,
  { position, ref, oldId, newId, forced, restorableUntil }: ActivityUpdate,
  { url, refs, mayRestore, now }: ActivityContext,
): ActivityUpdateView {
  const [isNew, isGone] = [noRef.test(oldId), noRef.test(newId)];
  const branch = branchOf(ref);
  const tag = tagOf(ref);
  const current = refs.get(ref) ?? null;
  const id = (oid: string) => ({ text: short(oid), url: commitUrl(url, oid) });
  return {
    name: viewName(branch ?? (tag === null ? ref : t('repository.activity_row.tag_name', { tag }))),
    url: current === null || (branch ?? tag) === null ? null : codeUrl(url, 'tree', branch ?? ref),
    kind: isGone ? 'deleted' : isNew ? 'created' : forced === true ? 'rewritten' : 'moved',
    from: isNew ? null : id(oldId),
    to: isGone ? null : id(newId),
    compareUrl: branch === null || isNew || isGone ? null : `${url}/compare/${encodeRef(oldId)}...${encodeRef(newId)}`,
    restore:
      !mayRestore || restorableUntil === null
        ? null
        : {
            id: `${pushId}.${position}`,
            expected: current ?? '0'.repeat(oldId.length),
            until: viewTime(restorableUntil, now),
            isBranch: branch !== null,
            back: current !== oldId,
            suggestedName: branch === null ? '' : `${branch}-${short(oldId).slice(0, 7)}`,
          },
  };
}
