/** The simulated page: the protocols themselves, run in the browser. */

export default function Simulated({ parameters }: { readonly parameters: URLSearchParams }) {
  return <p>Nothing is simulated yet: {parameters.toString()}</p>
}
