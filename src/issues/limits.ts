/** Sizes of what people write. Texts are bounded in bytes, because that is what is stored, rendered and sent. */
export const limits = {
  titleCharacters: 255,
  bodyBytes: 65_536,
  labelsPerIssue: 50,
  assigneesPerIssue: 20,
  linksPerIssue: 200,
  /** Of an issue's log; below 2^20, the positions that the number of a comment encodes. */
  entriesPerIssue: 1_000_000,
  pinsPerRepository: 6,
  labelsPerScope: 1_000,
  milestonesPerRepository: 1_000,
  labelNameCharacters: 50,
  milestoneTitleCharacters: 100,
  refLength: 255,
  timesPerIssue: 10_000,
  boardsPerPlace: 50,
  boardTitleCharacters: 100,
  columnsPerBoard: 20,
  columnNameCharacters: 50,
  /** Those that a rule would add beyond stay away. */
  cardsPerBoard: 5_000,
  /** Of a column, on the page of its board. */
  cardsShownPerColumn: 50,
  cardsPerMove: 100,
  descriptionCharacters: 1_000,
  blockReasonCharacters: 200,
  blocksPerOwner: 5_000,
  draftsPerPerson: 100,
  draftContextCharacters: 100,
  /** Distinct people whom one text mentions; those behind are plain text. */
  mentionsPerText: 50,
  /** Distinct teams whom one text mentions, and to which the texts of one page link. */
  teamsPerText: 5,
  teamsPerPage: 20,
  /** References that are read from one text. */
  referencesPerText: 500,
  /** Repositories, people and organisations, and commits that the references of one page are looked up in. */
  repositoriesPerPage: 20,
  handlesPerPage: 200,
  commitsPerPage: 200,
  /** Issues that one page links to by references. */
  issuesPerPage: 1_000,
  /** Issues that one text leaves an entry on. */
  entriesPerText: 50,
  /** Commits of one push whose messages are read. */
  commitsPerPush: 250,
  /** Files that one text shows; further ones are links to what only their uploader sees. */
  attachmentsPerText: 100,
  /** Files of one person that no text shows: of forms that are open, and of those that were left. */
  unusedAttachmentsPerPerson: 100,
  /** Numbers changed by one call of a bulk action. */
  issuesPerBulk: 100,
  /** The same text of the same person within this time is the same form, sent twice; in milliseconds. */
  sameFormMs: 10_000,
} as const;
