import { clipSecondsMax, resolutionOf, soundKinds, type VideoPrices } from '../video-price.ts'
import type { MakeSchema } from './define.ts'
import { map, message } from './shapes.ts'

/** Price tables of clips by model. A resolution is written as requests name it: `720p`, `4k`, or as a size. */
export const videoPrices: MakeSchema<VideoPrices> = map((z) => {
  const seconds = z.int().min(1).max(clipSecondsMax)
  return z.strictObject({
    per: z.enum(['second', 'clip']),
    seconds: z
      .strictObject({ usual: seconds, longest: seconds })
      .refine(
        ({ usual, longest }) => usual <= longest,
        message('通常时长不能超过最长时长', 'must not have a usual length beyond the longest'),
      ),
    rates: z
      .array(
        z.strictObject({
          resolution: z
            .string()
            .max(20)
            .transform((text) => resolutionOf(text) || text.trim().toLowerCase())
            .refine(
              (text) => text === '' || resolutionOf(text) === text,
              message('分辨率须为 720p、4k 或 1280x720 这样的写法', 'must name a resolution such as 720p, 4k or 1280x720'),
            ),
          sound: z.enum(soundKinds),
          usd: z.number().min(0).max(10_000),
        }),
      )
      .min(1)
      .max(50)
      .refine(
        (rates) => new Set(rates.map(({ resolution, sound }) => `${resolution} ${sound}`)).size === rates.length,
        message('同一分辨率和声音只能有一个价格', 'must have one price for each resolution and sound'),
      ),
  })
})
