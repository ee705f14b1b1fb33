import { compareRefs, knownRefs, noteRefs } from '../context/known-refs.ts';
import type { RunContext } from '../context/run-context.ts';

/** Page formats of other forges that are supported as files in a wiki here. */
const otherFormats = /\.(?:textile|org|rst|rest|adoc|asciidoc|creole|mediawiki|wiki|pod|rdoc)$/i;
const mostFiles = 10_000;

/** Transfers the pages of the wiki with their history. */
export async function transferWiki(context: RunContext): Promise<void> {
  const { row, transfer, options, progress, tell, renew } = context;
  if (!options.withWiki || progress.described?.hasWiki !== true) return;
  const base = await knownRefs(context, 'wiki:');
  const { refs, problems, moved } = await transfer.wiki({ base });
  if (row.isFull || moved > 0) renew('wiki');
  for (const problem of problems) tell('wiki', problem);
  if (refs === null) return;
  if (row.isFull || moved > 0) await tellOtherFormats(context);
  const differences = compareRefs(base, refs);
  const hasChanges = progress.hasChanges || moved > 0;
  await context.save({ progress: { hasChanges } }, (tx) => noteRefs(tx, context, 'wiki:', differences));
}

async function tellOtherFormats({ deps, located, tell }: RunContext): Promise<void> {
  const path = await deps.repositories.wikis.openAt(located.path);
  const { oid } = await deps.git.refs.head(path);
  if (oid === null) return;
  const { files } = await deps.git.queries.listFiles(path, oid, { limit: mostFiles });
  const others = files.map(({ path: file }) => file.toString()).filter((file) => otherFormats.test(file));
  if (others.length > 0)
    tell('wiki', `${others.length} pages are not Markdown and are files here, among them ${others[0]!.slice(0, 200)}`);
}
