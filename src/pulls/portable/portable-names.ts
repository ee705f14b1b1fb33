/** Folder of the files about code, next to the logs of pull requests. */
export const reviewsFolder = 'reviews';

/** Refs of the commits of a round in a bundle, below `refs/hearth/`, which a clone does not fetch. */
export const roundRefs = (
  number: number,
  { round, headOid, baseOid }: { round: number; headOid: string; baseOid: string },
  folder = 'refs/hearth',
): [name: string, oid: string][] => [
  [`${folder}/rounds/${number}/${round}/head`, headOid],
  [`${folder}/rounds/${number}/${round}/base`, baseOid],
];
