/** Models whose messages are lists of parts, at a separate path. Source: Model Studio's list of models, read 2026-11. */
export function isMultimodal(model: string): boolean {
  return /^(qwen(\d(\.\d)?)?-(vl|audio|omni)|qvq)/.test(model)
}

/** Models that only this interface serves; all others are available in the compatible one. Source: as above. */
export function isNativeOnly(model: string): boolean {
  return /^(qwen(\d)?-audio|farui|qwen-deep-research|baichuan|chatglm|ziya|dolly|belle|llama2)/.test(model)
}
