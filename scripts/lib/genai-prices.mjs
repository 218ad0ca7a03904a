// The data of genai-prices in the form that src/server/money/pricing/vendor-prices.ts declares: only what prices are read from.

export function vendorOf({ id, name, model_match, fallback_model_providers, models }) {
  return {
    ...{ id, name },
    ...(model_match ? { model_match } : {}),
    ...(fallback_model_providers ? { fallback_model_providers } : {}),
    models: models.map(modelOf),
  }
}

function modelOf({ id, match, prices, price_variants = [] }) {
  const tiers = (price_variants ?? []).filter(({ when }) => isTier(when)).map(conditional)
  return {
    ...{ id, match, prices: Array.isArray(prices) ? prices.map(conditional) : prices },
    ...(tiers.length > 0 ? { price_variants: tiers } : {}),
  }
}

function conditional({ constraint, ...given }) {
  return constraint ? { constraint, ...given } : given
}

/** A variant that one member of a request selects, at another price than the ordinary one. */
function isTier(when) {
  const [[member, value], ...others] = Object.entries(when)
  return others.length === 0 && ['service_tier', 'speed'].includes(member) && value !== 'default'
}
