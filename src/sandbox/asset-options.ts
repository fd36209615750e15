/** The `options` of getAsset (spec), which the lists and the batch take too. */
export const assetOptions = {
  showUnverifiedCollections: 'boolean',
  showCollectionMetadata: 'boolean',
  showFungible: 'boolean',
  showInscription: 'boolean',
} as const;
