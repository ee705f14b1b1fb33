import { EntitySchema } from 'typeorm';

/** An old path of a repository, by its former owner, who may be deleted. */
interface RedirectRow {
  ownerId: string;
  nameFolded: string;
  repositoryId: string;
  createdAt: number;
}

export const redirectSchema = new EntitySchema<RedirectRow>({
  name: 'repositoryRedirect',
  tableName: 'repository_redirects',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    nameFolded: { name: 'name_folded', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
