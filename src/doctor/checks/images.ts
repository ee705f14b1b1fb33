import { open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { sniffedBytes, sniffImageType } from '../../images/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { hourMs, rowsOf } from '../deps.ts';
import type { CheckGroup, CheckContext } from '../deps.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Kind {
  area: string;
  folder: string;
  /** Selects id and type of every row with an image. */
  sql: string;
  clear: string;
}

/** Image files and their rows: of repositories, users and organisations. */
export const checkImages: CheckGroup = async (deps) => {
  if (deps.objects.place === 's3') return { area: 'images', findings: [], summary: 'in a bucket' };
  const kinds: Kind[] = [
    {
      area: 'images',
      folder: deps.config.repositories.imageRoot,
      sql: 'SELECT id, image_content_type AS type FROM repositories WHERE image_content_type IS NOT NULL AND deleted_at IS NULL',
      clear: 'UPDATE repositories SET image_content_type = NULL, image_updated_at = NULL WHERE id = ?',
    },
    {
      area: 'avatars',
      folder: path.join(deps.config.dataDir, 'avatars'),
      sql: 'SELECT owner_id AS id, content_type AS type FROM avatars',
      clear: 'DELETE FROM avatars WHERE owner_id = ?',
    },
  ];
  const findings: CheckResult[] = [];
  let count = 0;
  for (const kind of kinds) {
    const rows = new Map((await rowsOf(deps, kind.sql)).map(({ id, type }) => [String(id), String(type)]));
    count += rows.size;
    findings.push(...(await checkKind(deps, kind, rows)));
  }
  return { area: 'images', findings, summary: `${count} checked` };
};

async function checkKind(
  deps: CheckContext,
  { area, folder, clear }: Kind,
  rows: ReadonlyMap<string, string>,
): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const names = new Set(await readdir(folder).catch(() => []));
  for (const name of names) {
    const at = path.join(folder, name);
    const found = await stat(at).catch(() => null);
    const isOld = found !== null && deps.now - found.mtimeMs > hourMs;
    const remove = { remedy: `rm ${at}`, fix: async () => rm(at, { force: true }).then(() => `removed ${at}`) };
    if (name.startsWith('.') && isOld)
      findings.push(warning(`${area}.half_written`, `${at} was never completed.`, remove));
    else if (uuid.test(name) && !rows.has(name) && isOld)
      findings.push(warning(`${area}.orphan`, `${at} does not belong to any image.`, remove));
  }
  for (const [id, type] of rows) {
    if (!names.has(id)) {
      findings.push(
        warning(`${area}.missing`, `The image of ${id} is missing.`, {
          remedy: 'hearth doctor --fix shows the default picture; put the file back from a backup to keep it',
          fix: async () =>
            deps.db
              .write(({ manager }) => manager.query(clear, [id]))
              .then(() => `removed the reference to the image of ${id}`),
        }),
      );
    } else if ((await typeOf(path.join(folder, id))) !== type) {
      findings.push(
        problem(`${area}.damaged`, `The image of ${id} is not a complete ${type}.`, {
          remedy: 'upload it again, or restore the file from a backup',
        }),
      );
    }
  }
  return findings;
}

/** The type by the leading bytes, as sent to browsers; null if it is not an image. */
async function typeOf(file: string): Promise<string | null> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(sniffedBytes), 0, sniffedBytes, 0);
    return sniffImageType(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}
