import { expect, it } from 'vitest'
import { clipsOf } from './clips.ts'

it('finds songs with their lyrics, and lyrics without a song', () => {
  const song = {
    title: 'Sea',
    audio_url: 'https://cdn.example/a.mp3',
    video_url: 'https://cdn.example/a.mp4',
    image_url: 'https://cdn.example/small.png',
    image_large_url: 'https://cdn.example/large.png',
    metadata: { prompt: 'waves' },
  }
  expect(clipsOf([song, { id: 'still being made' }])).toEqual([
    {
      title: 'Sea',
      audio: song.audio_url,
      video: song.video_url,
      cover: song.image_large_url,
      lyrics: 'waves',
    },
  ])
  expect(clipsOf({ title: 'Sea', text: 'la la' })).toMatchObject([{ title: 'Sea', audio: '', lyrics: 'la la' }])
})

it('accepts no script addresses, and yields nothing for invalid results', () => {
  expect(clipsOf([{ title: 'x', audio_url: 'javascript:alert(1)', video_url: 'data:text/html,x', image_url: 7 }])).toEqual([])
  for (const foreign of [null, undefined, 7, 'text', [null, 'x'], {}]) expect(clipsOf(foreign)).toEqual([])
})
