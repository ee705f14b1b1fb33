/** The name of this node. One process has the data folder today, so there is one node and it holds everything. */
const thisNode = 'local';

/**
 * SQL condition: this node holds the storage of a repository. What a start or a job recovers of repositories is
 * restricted by it, because the folders of another node's storage may be in use there.
 * @param repositoryId a column, as the statement names it
 */
export const holdsRepository = (repositoryId: string): string =>
  `EXISTS (SELECT 1 FROM repositories held_repository
     JOIN storages held_storage ON held_storage.id = held_repository.storage_id
    WHERE held_repository.id = ${repositoryId} AND held_storage.node = '${thisNode}')`;

/** SQL condition: this node holds a storage, for folders that no repository has yet. @param storageId a column */
export const holdsStorage = (storageId: string): string =>
  `EXISTS (SELECT 1 FROM storages held_storage WHERE held_storage.id = ${storageId} AND held_storage.node = '${thisNode}')`;

/**
 * SQL condition: this node holds the lease of the jobs that one node at a time runs. Claims of messages and deliveries
 * are released at a start by that node only; those of others end by themselves.
 */
export const holdsJobs = `EXISTS (SELECT 1 FROM leases held_lease
    WHERE held_lease.name = 'jobs' AND held_lease.node = '${thisNode}')`;
