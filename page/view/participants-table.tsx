/** What each participant says about itself, as a table. */
import type { ParticipantPicture } from './lock-picture.ts'
import { meaningOf, regionName, toneOf } from './words.ts'

export function ParticipantsTable({
  participants,
}: {
  readonly participants: readonly ParticipantPicture[]
}) {
  return (
    <table class="participants">
      <caption class="hidden">Participants</caption>
      <thead>
        <tr>
          <th scope="col">Region</th>
          <th scope="col">State</th>
          <th scope="col" class="figure">
            Epoch
          </th>
          <th scope="col" class="figure">
            Log
          </th>
          <th scope="col" class="figure">
            Queue
          </th>
          <th scope="col" class="figure">
            Suspects
          </th>
        </tr>
      </thead>
      <tbody>
        {participants.map(participant => (
          <Row key={participant.id} participant={participant} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ participant }: { readonly participant: ParticipantPicture }) {
  const { id, location, condition, phase, epoch, sequence, queue, suspects } = participant
  const isUp = condition === 'up'
  return (
    <tr>
      <th scope="row">
        {id} <small title={regionName(location)}>{location ?? ''}</small>
      </th>
      <td>
        <span
          class={`chip ${isUp ? `tone-${toneOf(phase)}` : `condition-${condition}`}`}
          title={meaningOf(phase)}
        >
          {isUp ? phase : condition}
        </span>
      </td>
      <td class="figure">{isUp ? epoch : '–'}</td>
      <td class="figure">{isUp ? sequence : '–'}</td>
      <td class="figure">{isUp ? queue : '–'}</td>
      <td class="figure">{suspects.length === 0 ? '–' : suspects.join(', ')}</td>
    </tr>
  )
}
