import { allows } from '../../access/index.ts';
import { dependOn } from '../app/dependency.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { content, page } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { feedAuthor, writeFeed } from './atom.ts';
import { codeUrl, encodeRef } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { newestVersions } from './newest-versions.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewZonedTime } from '../app/times.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readSignatures } from './signatures.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import { readCommitAuthors } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readRefProtection } from './ref-protection.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const perPage = 30;
const maxNote = 4_000;

/** Tags by falling version, with their messages and commits; tags without a commit are omitted. */
async function readTags({ found, query }: RepositoryContext, { git }: CodeDeps) {
  const refs = await git.queries.cachedRefs(found.path);
  const after = query.get('after');
  const names = await newestVersions(refs, perPage + 1, after);
  const shown = names.slice(0, perPage).map((name) => ({ name, oid: refs.get(`refs/tags/${name}`)! }));
  const notes = await git.queries.tags(
    found.path,
    shown.map(({ oid }) => oid),
  );
  const rows = await Promise.all(
    shown.map(async ({ name, oid }, index) => {
      const commit = await git.refs
        .resolve(found.path, `refs/tags/${name}`)
        .then((id) => git.objects.commit(found.path, id))
        .catch(() => null);
      return { name, oid, note: notes[index] ?? null, commit };
    }),
  );
  const last = shown.at(-1);
  return {
    total: refs.count('refs/tags/'),
    rows,
    isFirst: after === null,
    nextAfter: last && names.length > perPage ? last.name : null,
  };
}

/** The accounts of taggers, and of authors and committers of the tagged commits. */
const authorsOfTags = (deps: CodeDeps, rows: Awaited<ReturnType<typeof readTags>>['rows']) =>
  readCommitAuthors(
    deps,
    rows.flatMap(({ note, commit }) => [note?.tagger ?? [], commit ? [commit.author, commit.committer] : []].flat()),
  );

/** `B/tags`: the newest version first. */
export const showTags: Page<RepositoryContext, CodeDeps> = (context, deps) => tagsPage(context, deps);

/** A refused form for a new tag: its values and the reason. */
interface RefusedTag {
  name: string;
  from: string;
  message: string;
  refusal: FormRefusal | null;
}

/**
 * @param refused the refused form, with the entered values
 */
export async function tagsPage(
  context: RepositoryContext,
  deps: CodeDeps,
  refused: RefusedTag | null = null,
): Promise<PageReply> {
  const { found } = context;
  const mayChange = allows(found.level, 'write') && found.repository.archivedAt === null;
  const { defaultBranch } = found.repository;
  const url = repositoryUrl(found.canonical);
  const now = deps.clock.now();
  const { total, rows, nextAfter, isFirst } = await readTags(context, deps);
  const { views: signatures, dependency } = await readSignatures(
    deps,
    rows.map(
      ({ note }) => note && { signature: note.signature, address: note.tagger?.email ?? '', at: note.tagger?.at ?? 0 },
    ),
    found.repository.id,
    'tagger',
  );
  const authors = await authorsOfTags(deps, rows);
  const statuses = await readCommitStatuses(
    context,
    deps,
    rows.flatMap(({ commit }) => commit?.oid ?? []),
  );
  const protection = await readRefProtection(context, deps, 'refs/tags/');
  const names = rows.map(({ name }) => name);
  const released = await dependOn(() => deps.releases.releasedTags(found.repository.id, names));
  const hasRelease = new Set(released.value);
  const hasCommits = rows.length > 0 || (await deps.git.queries.cachedRefs(found.path)).size > 0;
  const notes = rows.map(({ note }) =>
    note?.message ? note.message.slice(0, maxNote).split('\n').map(viewName).join('\n') : null,
  );
  const references = await readCommitReferences(
    context,
    deps,
    notes.map((note) => note ?? ''),
  );
  return page(
    'code/tags',
    {
      repository: viewRepositoryHeader(found),
      count: viewCount(total, 'tag'),
      feed: `${url}/tags.atom`,
      rows: rows.map(({ name, note, commit }, index) => ({
        name: viewName(name),
        isProtected: protection.isProtected(name),
        url: codeUrl(url, 'tree', `refs/tags/${name}`),
        release: hasRelease.has(name) ? `${url}/releases/tag/${encodeRef(name)}` : null,
        newRelease:
          mayChange && commit !== null && !hasRelease.has(name)
            ? `${url}/releases/new?${new URLSearchParams({ tag: name })}`
            : null,
        deletion:
          mayChange && protection.mayDelete(name) ? `${url}/tags/delete?${new URLSearchParams({ name })}` : null,
        note: notes[index] ?? null,
        noteParts: viewLinkedText(notes[index] ?? '', references, true),
        author: (note?.tagger ?? commit) && authors.of(note?.tagger ?? commit!.author),
        signature: signatures[index] ?? null,
        at: commit && viewZonedTime(note?.tagger ?? commit.committer, now),
        commit: commit && viewCommitLine(commit, url, now, authors, statuses.of(commit.oid)),
        archives: commit && {
          zip: `${url}/archive/refs/tags/${encodeRef(name)}.zip`,
          tar: `${url}/archive/refs/tags/${encodeRef(name)}.tar.gz`,
        },
      })),
      more: nextAfter === null ? null : `${url}/tags?${new URLSearchParams({ after: nextAfter })}`,
      isFirst,
      form:
        mayChange && hasCommits
          ? {
              name: refused?.name ?? '',
              from: refused?.from ?? defaultBranch,
              message: refused?.message ?? '',
              refusal: refused?.refusal ?? null,
            }
          : null,
      notice: viewFlashMessage(context.query),
    },
    {
      restsOn: [
        released,
        dependency,
        authors.dependency,
        statuses.dependency,
        references.dependency,
        protection.dependency,
      ],
    },
  );
}

/** `B/tags.atom` */
export const showTagFeed: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, origin } = context;
  const url = `${origin}${repositoryUrl(found.canonical)}`;
  const { rows } = await readTags(context, deps);
  const authors = await authorsOfTags(deps, rows);
  const entries = rows.flatMap(({ name, note, commit }) => {
    if (!commit) return [];
    const at = note?.tagger?.at ?? commit.committer.at;
    return [
      {
        id: `${url}/tags/${encodeRef(name)}`,
        url: codeUrl(url, 'tree', `refs/tags/${name}`),
        title: name,
        author: feedAuthor(authors, note?.tagger?.name ? note.tagger : commit.author, origin),
        at,
        text: note?.message ?? commit.message,
      },
    ];
  });
  const updatedAt = entries.reduce((newest, { at }) => Math.max(newest, at), 0);
  const title = `${found.canonical.owner}/${found.canonical.name}: tags`;
  return content(
    'application/atom+xml; charset=utf-8',
    writeFeed({ title, self: `${url}/tags.atom`, page: `${url}/tags`, updatedAt, entries }),
  );
};
