import { inList, isoTime } from '../db/index.ts';
import type { DocumentList } from './document-list.ts';

export type Kind = 'repository' | 'person';

interface SearchSource {
  list: DocumentList;
  /** The rows with some ids, given as a JSON array. */
  rows: string;
  /** The searched columns of a row. */
  fields: readonly string[];
}

/**
 * The searched fields of each kind, without rows in the trash or without a username. `hit` is the JSON of a row (SPEC
 * §2.4): exactly these fields, in this order. The other columns are for the access policy.
 */
export const searchSources: Record<Kind, SearchSource> = {
  repository: {
    list: {
      texts: 'search_repositories',
      index: 'search_repository_trigrams',
      columns: ['owner_user_id', 'owner_org_id', 'visibility', 'hit'],
      isHidden: ([, , visibility]) => visibility !== 'PUBLIC',
    },
    rows: `SELECT r.id, h.display AS owner, r.name, r.description,
        json_array(r.owner_user_id, r.owner_org_id, r.visibility,
          '{"owner":' || json_quote(h.display) || ',"name":' || json_quote(r.name) || ',"visibility":' || json_quote(r.visibility)
          || ',"description":' || json_quote(r.description) || ',"createdAt":"' || ${isoTime('r.created_at')} || '"}') AS others
      FROM repositories r
      JOIN handles h ON h.owner_id = coalesce(r.owner_user_id, r.owner_org_id) AND h.released_at IS NULL
      WHERE ${inList('r.id')} AND r.deleted_at IS NULL`,
    fields: ['owner', 'name', 'description'],
  },
  person: {
    list: { texts: 'search_people', index: 'search_person_trigrams', columns: ['hit'], isHidden: () => false },
    rows: `SELECT u.id, u.username, u.display_name,
        json_array('{"username":' || json_quote(u.username) || ',"displayName":' || json_quote(u.display_name) || '}') AS others
      FROM users u
      WHERE ${inList('u.id')} AND u.username IS NOT NULL`,
    fields: ['username', 'display_name'],
  },
};
