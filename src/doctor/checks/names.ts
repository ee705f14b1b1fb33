import { inList } from '../../db/index.ts';
import { reservedHandles } from '../../owners/index.ts';
import { warning } from '../check-result.ts';
import { rowsOf } from '../deps.ts';
import type { CheckGroup } from '../deps.ts';

/**
 * Names of users and organisations that were registered before this program reserved them: their pages and git still
 * work, except for URLs that the program now uses itself.
 */
export const checkNames: CheckGroup = async (deps) => {
  const rows = await rowsOf(
    deps,
    `SELECT h.display, h.kind FROM handles h
      WHERE h.released_at IS NULL AND ${inList('h.folded')} ORDER BY h.folded`,
    [JSON.stringify([...reservedHandles])],
  );
  const findings = rows.map(({ display, kind }) => {
    const name = String(display);
    return warning(
      'names.reserved',
      `${kind === 'user' ? 'A user' : 'An organisation'} is named ${name}, which Hearth uses in its own URLs.`,
      {
        remedy:
          kind === 'user' ? `hearth user rename ${name} OTHER-NAME` : `hearth org edit ${name} --rename OTHER-NAME`,
      },
    );
  });
  return { area: 'names', findings, summary: 'no reserved name is in use' };
};
