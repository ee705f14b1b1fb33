import type { EntityManager, EntitySchema } from 'typeorm';

/** The columns of a table of events with the state of their announcement; times in epoch milliseconds. */
export interface EventColumns {
  /** Announcements that were begun. */
  attempts: number;
  triedAt: number | null;
  lastError: string | null;
  /** When no listener had attempts left. */
  parkedAt: number | null;
  /** When every listener had recorded the event. */
  announcedAt: number | null;
}

/** The three tables of one kind of event. */
interface AnnouncementTables {
  /** The events, with `EventColumns`. */
  events: EntitySchema;
  /** The listeners that are done with an event, until it is announced: the key of the event and `listener`. */
  marks: EntitySchema;
  /** Attempts of listeners from the second announcement on: key, `listener`, `Tries`, `lastError`. */
  attempts: EntitySchema;
}

/** The place of one event in the database. */
export interface EventPlace {
  tables: AnnouncementTables;
  /** The columns that find the row of the event. */
  row: Readonly<Record<string, string | number>>;
  /** The columns that find its marks and attempts. */
  key: Readonly<Record<string, string | number>>;
}

/** An event that is to be announced. */
export interface Subject<Event> extends EventPlace {
  event: Event;
  /** Names of log events. */
  logNames: { listenerFailed: string; parked: string; repositoryMoved: string };
  /** Whether the repository was transferred or deleted while a listener read it. */
  hasRepositoryMoved(): Promise<boolean>;
  /** Whether the repository is in the trash: nothing is recorded, and the event waits until it is restored. */
  isInTrash(source: EntityManager): Promise<boolean>;
}
