import { describe, expect, it } from 'vitest'
import { clamped, moved, scaleMax, wholeView, zoomed } from './pan-zoom.ts'

describe('the view of an image', () => {
  it('keeps the point under the pointer in place', () => {
    const before = { scale: 2, x: 30, y: -10 }
    const point = { x: 80, y: 40 }
    const after = zoomed(before, 1.5, point)
    const under = ({ scale, x }: typeof before) => (point.x - x) / scale
    expect(under(after)).toBeCloseTo(under(before))
  })

  it('is never smaller than the whole image, nor larger than the maximum', () => {
    expect(zoomed(wholeView, 0.1).scale).toBe(1)
    expect(zoomed(wholeView, 1000).scale).toBe(scaleMax)
  })

  it('is not moved out of its frame', () => {
    const frame = { width: 400, height: 300 }
    const picture = { width: 400, height: 200 }
    expect(clamped(moved(wholeView, { x: 50, y: 50 }), frame, picture)).toEqual(wholeView)
    expect(clamped({ scale: 2, x: 900, y: -900 }, frame, picture)).toEqual({ scale: 2, x: 200, y: -50 })
  })
})
