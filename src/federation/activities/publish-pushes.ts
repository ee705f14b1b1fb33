import type { Commit, NewCommits } from '../../git/index.ts';
import { noRef, shortRef } from '../../kernel/index.ts';
import type { AnnouncedPush, PushListener } from '../../repositories/index.ts';
import { instanceActor, personActor, repositoryActor } from '../actors/find-actor.ts';
import type { RepositoryActor } from '../actors/find-actor.ts';
import { publicRepositoryById } from '../actors/public-repositories.ts';
import { publish } from '../deliveries/publish.ts';
import { sendHeldAccepts } from '../deliveries/send-held-accepts.ts';
import { maxPushedCommits } from '../schema/received-push-schema.ts';
import type { FederationDeps } from '../deps.ts';
import type { Json } from '../documents/json-fields.ts';
import { pushContent, restContent } from './push.ts';
import { readNoteChoices } from '../notes/note-choices.ts';
import { publishNote, pushNoteHtml } from './note.ts';
import type { NewNote } from './note.ts';
import type { BranchPush } from './push.ts';
import type { PushPlace } from './push.ts';

/** The activities of a push; empty unless its repository is public. */
interface Announcement {
  actorPath: string;
  /** One for each created or moved branch, the default branch first; the branches above the limit share one. */
  contents: Json[];
  /** The note for human readers, of the default branch only. */
  note: Pick<NewNote, 'html' | 'url' | 'at'> | null;
}

type BranchUpdate = AnnouncedPush['updates'][number];

const heads = 'refs/heads/';

/** Limit of activities per push: each goes to every follower, and a mirror pushes thousands of branches. */
const maxActivities = 20;

/**
 * Subscribes to accepted pushes, over HTTP and SSH alike (SPEC §6), and publishes exactly one Push for each updated
 * branch of a public repository, since the journal records it in the same write. Above the limit, the last activity
 * summarises the remaining branches. Tags and deleted branches are not published.
 */
export function pushListener(deps: FederationDeps): PushListener<Announcement> {
  return {
    name: 'federation',
    prepare: (push) => prepareAnnouncement(deps, push),
    async record(tx, push, announcement) {
      // Checked again inside the write: the repository may have turned private while git was running.
      if (!(await deps.repositories.isPublic(tx.manager, push.repository.id))) return;
      const { actorPath, contents } = announcement;
      const repositoryId = push.repository.id;
      await sendHeldAccepts(tx, actorPath);
      for (const content of contents) {
        await publish(
          deps,
          tx,
          { type: 'Push', actorPath, repositoryId, content },
          { followersOf: repositoryId, reads: 'push' },
        );
      }
      if (announcement.note !== null && (await readNoteChoices(tx.manager, repositoryId)).pushes)
        await publishNote(deps, tx, { actorPath, repositoryId, ...announcement.note });
    },
  };
}

async function prepareAnnouncement(deps: FederationDeps, push: AnnouncedPush): Promise<Announcement | null> {
  const updates = push.updates.filter(({ ref, newId }) => ref.startsWith(heads) && !noRef.test(newId));
  const found = updates.length === 0 ? null : await publicRepositoryById(deps, push.repository.id);
  if (found === null) return null;
  const repository = await repositoryActor(deps, found);
  const pusher = await pusherOf(deps, push);
  const path = deps.git.storage.pathOf(found.owner.id, found.repository.id);
  const commits = new GainedCommits(deps, path, await untouchedTips(deps, path, push));
  const described = defaultFirst(updates, heads + found.repository.defaultBranch);
  const left = updates.length > maxActivities ? updates.length - (maxActivities - 1) : 0;
  const contents: Json[] = [];
  let note: Announcement['note'] = null;
  for (const update of described.slice(0, updates.length - left)) {
    const moved = await describePush(deps, { repository, pusher, commits, update, at: push.arrivedAt });
    contents.push(pushContent(moved));
    if (moved.branch === found.repository.defaultBranch)
      note = { html: pushNoteHtml(moved), url: noteUrl(moved), at: push.arrivedAt };
  }
  if (left > 0) contents.push(restContent({ ...placeOf(deps, { repository, pusher, at: push.arrivedAt }), left }));
  return { actorPath: repository.actor.path, contents, note };
}

function defaultFirst(updates: readonly BranchUpdate[], defaultRef: string): readonly BranchUpdate[] {
  const found = updates.find(({ ref }) => ref === defaultRef);
  return found === undefined ? updates : [found, ...updates.filter((update) => update !== found)];
}

/** The commits that the branches of one push gained. Branches at the same commit share one lookup. */
class GainedCommits {
  readonly #git: FederationDeps['git'];
  readonly #path: string;
  readonly #others: readonly string[];
  readonly #tips: ReadonlySet<string>;
  readonly #known = new Map<string, Promise<NewCommits>>();

  constructor({ git }: FederationDeps, path: string, others: readonly string[]) {
    this.#git = git;
    this.#path = path;
    this.#others = others;
    this.#tips = new Set(others);
  }

  of({ oldId, newId }: BranchUpdate): Promise<NewCommits> {
    const isNew = noRef.test(oldId);
    if (isNew && this.#tips.has(newId)) return Promise.resolve({ total: 0, commits: [] });
    const key = `${oldId} ${newId}`;
    const known =
      this.#known.get(key) ??
      this.#git.objects.newCommits(this.#path, newId, isNew ? this.#others : [oldId], { limit: maxPushedCommits });
    this.#known.set(key, known);
    return known;
  }

  async isForced({ oldId, newId }: BranchUpdate): Promise<boolean> {
    if (noRef.test(oldId)) return false;
    return (await this.#git.objects.newCommits(this.#path, oldId, [newId], { limit: 1 })).total > 0;
  }
}

interface Pusher {
  id: string;
  name: string;
}

async function pusherOf(deps: FederationDeps, { pusherId, deployKey }: AnnouncedPush): Promise<Pusher> {
  const person = pusherId === null ? undefined : (await deps.accounts.peopleById([pusherId])).get(pusherId);
  const found = person === undefined ? null : await personActor(deps, person);
  if (found === null) {
    const name = deployKey === null ? 'Somebody' : `deploy key ${deployKey}`;
    return { id: (await instanceActor(deps)).id, name };
  }
  return { id: found.actor.id, name: found.person.displayName || found.person.username! };
}

/** The tips before the push: a new branch from one of them has no new commits. */
async function untouchedTips({ git }: FederationDeps, path: string, { updates }: AnnouncedPush): Promise<string[]> {
  if (!updates.some(({ oldId }) => noRef.test(oldId))) return [];
  const touched = new Set(updates.map(({ ref }) => ref));
  const tips = (await git.queries.cachedRefs(path)).idsOf(heads, touched);
  return [...new Set([...updates.map(({ oldId }) => oldId).filter((oldId) => !noRef.test(oldId)), ...tips])];
}

interface Pushed {
  repository: RepositoryActor;
  pusher: Pusher;
  at: number;
}

const placeOf = (
  { settings }: FederationDeps,
  { repository: { actor, owner, repository }, pusher, at }: Pushed,
): PushPlace => ({
  repositoryActorId: actor.id,
  pusherActorId: pusher.id,
  pusherName: pusher.name,
  repositoryName: `${owner.handle}/${repository.name}`,
  repositoryUrl: `${settings.origin}/repos/${encodeURIComponent(owner.handle)}/${encodeURIComponent(repository.name)}`,
  pushedAt: at,
});

interface Branch extends Pushed {
  commits: GainedCommits;
  update: BranchUpdate;
}

/** The page of the newest commit, or of the repository if a push adds no commits. */
const noteUrl = ({ repositoryUrl, commits }: BranchPush): string =>
  commits[0] === undefined ? repositoryUrl : `${repositoryUrl}/commit/${commits[0].hash}`;

async function describePush(deps: FederationDeps, branch: Branch): Promise<BranchPush> {
  const { update } = branch;
  const { total, commits } = await branch.commits.of(update);
  const authors = await authorActors(deps, commits);
  return {
    ...placeOf(deps, branch),
    branch: shortRef(update.ref),
    hashBefore: update.oldId,
    hashAfter: update.newId,
    isForced: await branch.commits.isForced(update),
    totalCommits: total,
    commits: commits.map(({ oid, subject, author, committer }) => ({
      hash: oid,
      subject,
      authorName: withoutAddress(author.name),
      authorActorId: authors.get(author.email) ?? null,
      authoredAt: author.at,
      committedAt: committer.at,
    })),
  };
}

/**
 * The actors of users with a verified or no-reply address of an author, keyed by address; disabled users are omitted.
 */
async function authorActors(
  deps: FederationDeps,
  commits: readonly Pick<Commit, 'author'>[],
): Promise<Map<string, string>> {
  const people = await deps.accounts.addresses.peopleByAddress(commits.map(({ author }) => author.email));
  const actors = new Map<string, string>();
  for (const [email, person] of people) {
    const found = person.disabledAt === null ? await personActor(deps, person) : null;
    if (found !== null) actors.set(email, found.actor.id);
  }
  return actors;
}

/** A git name that is an e-mail address is not published: its user did not intend that. */
function withoutAddress(name: string): string {
  return (
    name
      .replace(/\S+@\S+/g, '')
      .replace(/[<>]/g, '')
      .trim() || 'Somebody'
  );
}
