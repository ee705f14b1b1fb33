import { DataSource } from 'typeorm';
import type { DataSourceOptions, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';

/**
 * TypeORM's entity metadata is the same for both connections and takes as long to build as opening a connection, so it
 * is built once.
 */
export class ReadingSource extends DataSource {
  readonly #like: DataSource;
  readonly #found = new Map<EntityTarget<ObjectLiteral>, EntityMetadata>();

  /** @param like a source of the same entities and driver, opened before this one */
  constructor(options: DataSourceOptions, like: DataSource) {
    super(options);
    this.#like = like;
  }

  protected override async buildMetadatas(): Promise<void> {
    const { entityMetadatas, entityMetadatasMap } = this.#like;
    Object.assign(this, { entityMetadatas, entityMetadatasMap });
  }

  /** TypeORM iterates over all entities for each schema or table that a statement names, several times. */
  protected override findMetadata(target: EntityTarget<ObjectLiteral>): EntityMetadata | undefined {
    let found = this.#found.get(target);
    if (found === undefined && (found = super.findMetadata(target)) !== undefined) this.#found.set(target, found);
    return found;
  }
}
