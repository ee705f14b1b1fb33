import type { Location, TreeEntry } from '../../git/index.ts';
import { imageSize } from '../../images/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { renderDocument } from '../markdown/render-document.ts';
import { codeUrl, splitPath } from '../app/code-urls.ts';
import { readLineRange, viewCodeLines } from './code-lines.view.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { readLfsPointer } from './lfs-pointer.ts';
import { imageType } from './media-types.ts';
import { readText } from './read-text.ts';
import { viewName } from '../app/plain-text.ts';
import { markdownName, maxReadmeBytes } from './readme.view.ts';
import { viewCount, viewSize } from '../app/sizes.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { frameAt, locate } from './at-ref.ts';
import { sizePictures } from './picture-size.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

/** Larger files are not shown line by line (security I05). */
const maxShownBytes = 1024 * 1024;

interface Asked {
  context: RepositoryContext;
  deps: CodeDeps;
  at: Location;
  entry: TreeEntry;
}

/** What a file is shown as: exactly one of the fields is set, and `facts` says more in words. */
async function readContent({ context, deps: { config, git, highlighting, workers }, at, entry }: Asked) {
  const { content, size } = await git.objects.blob(context.found.path, entry.oid, { maxBytes: maxShownBytes });
  const facts = [viewSize(size)];
  const raw = codeUrl(repositoryUrl(context.found.canonical), 'raw', at.ref, at.file);
  if (entry.kind === 'symlink') return { facts, target: viewName(content?.toString() ?? '') };
  if (imageType(entry.name) !== null && context.query.get('plain') !== '1') {
    const sides = content === null ? null : imageSize(content);
    if (sides !== null) facts.unshift(`${sides.width} × ${sides.height} pixels`);
    return { facts, image: { url: raw, ...sides } };
  }
  if (content === null) return { facts, reason: 'This file is too large to show here.' };
  if (content.length === 0) return { facts, reason: 'This file is empty.' };
  const pointer = readLfsPointer(content);
  if (pointer !== null)
    return { facts: [`${viewSize(pointer.size)} in LFS`], lfs: { ...pointer, size: viewSize(pointer.size) } };
  const text = readText(content);
  if (text === null) return { facts, reason: 'This is a binary file.' };
  if (text.encoding !== 'UTF-8') facts.push(text.encoding);
  if (
    markdownName.test(entry.name) &&
    context.query.get('plain') !== '1' &&
    !context.query.has('lines') &&
    size <= maxReadmeBytes
  ) {
    const place = {
      repositoryUrl: repositoryUrl(context.found.canonical),
      ref: at.ref,
      folder: splitPath(at.file).folder,
      showsRemoteImages: config.repositories.remoteImages,
    };
    const document = await renderDocument(workers, entry.oid, place, () => text.text);
    if (!('html' in document)) return { facts, plain: document, isFinal: document.isFinal };
    return { facts, document: await sizePictures(git, context.found.path, place.repositoryUrl, at, document.html) };
  }
  const request = { oid: entry.oid, fileName: entry.name, text: text.text, client: context.found.path };
  const coloured = await highlighting.highlight(request);
  const code = viewCodeLines(text.text, coloured, readLineRange(context.query.get('lines')));
  facts.unshift(viewCount(code.count, 'line'));
  if (entry.kind === 'executable') facts.push('executable');
  if (!code.endsWithBreak) facts.push('no newline at the end');
  return { facts, code, isFinal: coloured !== null || !highlighting.canHighlight(request) };
}

/** `B/blob/{ref}/{path}`: a file. */
export const showBlob: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found } = context;
  const url = repositoryUrl(found.canonical);
  const at = await locate(context, deps);
  if (at.file.length === 0) return movedTo(codeUrl(url, 'tree', at.ref));
  const entry = await deps.git.objects.entryAt(found.path, at.oid, at.file);
  if (entry.type !== 'blob') return movedTo(codeUrl(url, 'tree', at.ref, at.file));
  const [frame, content, commit] = await Promise.all([
    frameAt(context, deps, at, 'blob'),
    readContent({ context, deps, at, entry }),
    deps.git.queries.lastChange(found.path, at.oid, at.file),
  ]);
  const statuses = await readCommitStatuses(context, deps, commit === null ? [] : [commit.oid]);
  return page(
    'code/blob',
    {
      ...frame,
      content,
      commit: commit && viewCommitLine(commit, url, deps.clock.now(), statuses.of(commit.oid)),
      isMarkdown: markdownName.test(entry.name),
      isDocument: 'document' in content || 'plain' in content,
      links: {
        raw: codeUrl(url, 'raw', at.ref, at.file),
        blame:
          'code' in content || 'document' in content || 'plain' in content
            ? codeUrl(url, 'blame', at.ref, at.file)
            : null,
        self: codeUrl(url, 'blob', at.ref, at.file),
      },
    },
    { restsOn: content.isFinal === false ? null : [statuses.dependency] },
  );
};
