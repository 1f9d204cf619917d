/**
 * The task numbers that published task-aware classifiers were trained with: each suite's sentences in alphabetical order.
 *
 * Alphabetical by sentence, not LIBERO's own task order: the number is a row of the classifier's embedding.
 */
const bowl = (where: string): string => `pick up the black bowl ${where} and place it on the plate`;
const basket = (object: string): string => `pick up the ${object} and place it in the basket`;

export const taskSentences: Readonly<Record<string, readonly string[]>> = {
  libero_spatial: [
    "between the plate and the ramekin",
    "from table center",
    "in the top drawer of the wooden cabinet",
    "next to the cookie box",
    "next to the plate",
    "next to the ramekin",
    "on the cookie box",
    "on the ramekin",
    "on the stove",
    "on the wooden cabinet",
  ].map(bowl),
  libero_object: [
    "alphabet soup",
    "bbq sauce",
    "butter",
    "chocolate pudding",
    "cream cheese",
    "ketchup",
    "milk",
    "orange juice",
    "salad dressing",
    "tomato sauce",
  ].map(basket),
  libero_goal: [
    "open the middle drawer of the cabinet",
    "open the top drawer and put the bowl inside",
    "push the plate to the front of the stove",
    "put the bowl on the plate",
    "put the bowl on the stove",
    "put the bowl on top of the cabinet",
    "put the cream cheese in the bowl",
    "put the wine bottle on the rack",
    "put the wine bottle on top of the cabinet",
    "turn on the stove",
  ],
  libero_10: [
    "pick up the book and place it in the back compartment of the caddy",
    "put both moka pots on the stove",
    "put both the alphabet soup and the cream cheese box in the basket",
    "put both the alphabet soup and the tomato sauce in the basket",
    "put both the cream cheese box and the butter in the basket",
    "put the black bowl in the bottom drawer of the cabinet and close it",
    "put the white mug on the left plate and put the yellow and white mug on the right plate",
    "put the white mug on the plate and put the chocolate pudding to the right of the plate",
    "put the yellow and white mug in the microwave and close it",
    "turn on the stove and put the moka pot on it",
  ],
};
