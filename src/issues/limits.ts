/** Size limits of user content. Texts are limited in bytes, because bytes are stored, rendered and sent. */
export const limits = {
  titleCharacters: 255,
  bodyBytes: 65_536,
  labelsPerIssue: 50,
  assigneesPerIssue: 20,
  linksPerIssue: 200,
  /** Entries of an issue's log; below 2^20, the positions that a comment id can encode. */
  entriesPerIssue: 1_000_000,
  pinsPerRepository: 6,
  labelsPerScope: 1_000,
  milestonesPerRepository: 1_000,
  labelNameCharacters: 50,
  milestoneTitleCharacters: 100,
  refLength: 255,
  timesPerIssue: 10_000,
  /** A year and a day, in seconds: nobody works on one thing longer without a break. */
  trackedSeconds: 366 * 86_400,
  boardsPerPlace: 50,
  boardTitleCharacters: 100,
  columnsPerBoard: 20,
  columnNameCharacters: 50,
  /** Rules add no cards beyond this limit. */
  cardsPerBoard: 5_000,
  /** Cards of a column on the page of its board. */
  cardsShownPerColumn: 50,
  cardsPerMove: 100,
  descriptionCharacters: 1_000,
  blockReasonCharacters: 200,
  blocksPerOwner: 5_000,
  draftsPerPerson: 100,
  draftContextCharacters: 100,
  /** Distinct people mentioned in one text; further ones are plain text. */
  mentionsPerText: 50,
  /** Distinct teams mentioned in one text, and linked from the texts of one page. */
  teamsPerText: 5,
  teamsPerPage: 20,
  /** References read from one text. */
  referencesPerText: 500,
  /** Repositories, users and organisations, and commits looked up for the references of one page. */
  repositoriesPerPage: 20,
  handlesPerPage: 200,
  commitsPerPage: 200,
  /** Issues linked by references on one page. */
  issuesPerPage: 1_000,
  /** Issues to which one text adds an entry. */
  entriesPerText: 50,
  /** Commits of one push whose messages are read. */
  commitsPerPush: 250,
  /** Files shown in one text; further ones are links that only their uploader can open. */
  attachmentsPerText: 100,
  /** Unused files per user: of open and abandoned forms. */
  unusedAttachmentsPerPerson: 100,
  /** Issues changed by one bulk action. */
  issuesPerBulk: 100,
  /** Time in milliseconds within which the same text by the same user counts as the same form sent twice. */
  sameFormMs: 10_000,
} as const;
