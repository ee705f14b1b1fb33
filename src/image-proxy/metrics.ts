/** How requests for images ended. */
export type ImageResult = 'cached' | 'fetched' | 'revalidated' | 'stale' | 'failed' | 'refused' | 'busy';

export type ImageProxyCounts = Readonly<Record<ImageResult, number>>;

export const newCounts = (): Record<ImageResult, number> => ({
  cached: 0,
  fetched: 0,
  revalidated: 0,
  stale: 0,
  failed: 0,
  refused: 0,
  busy: 0,
});
